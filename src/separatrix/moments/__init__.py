"""Methods that need only the moments of each class: sums of (1, x, xxᵀ), computed in one pass over the rows.

gather            the moments, computed stably and mergeable across blocks
accumulated       moments of rows that come in parts, for ``partial_fit``
first_look        what a few rows or columns show before the moments of all rows are used
whitening         factors of a scatter matrix, singular or not
target_tables     classes coded as regression targets
singular_columns  the columns because of which a scatter matrix is singular
squared_cost      least squares: cost, gap and minimum
residual_sums     the same gap from the residuals of every row
deletion          the rows that influence a least-squares fit the most
projections       Fisher's direction and the direction of the means
projection_thresholds  where to cut along a direction
projected_rows    a direction together with its threshold
gaussians         one normal density per class: LDA and QDA
shrinkage         shrunk class covariances
"""
