# Reference numbers for tests/classifiers/test_gaussian.py and test_least_squares.py.
# Run in this folder: Rscript moments.R > moments.json
# Needs R's own MASS; numbers are printed with 17 digits, which read back to the same doubles.
suppressMessages(library(MASS))

number <- function(x) sprintf("%.17g", x)
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
matrix_rows <- function(M) paste0("[", paste(apply(M, 1, vector), collapse = ",\n    "), "]")

some <- c(1, 15, 42, 51, 71, 78, 84, 107, 120, 130, 134, 135, 150)   # rows of iris, many of them hard
linear <- lda(Species ~ ., iris)
weighed <- lda(Species ~ ., iris, prior = c(0.2, 0.5, 0.3))
quadratic <- qda(Species ~ ., iris)
quadratic_weighed <- qda(Species ~ ., iris, prior = c(0.2, 0.5, 0.3))

# Least squares on the fifth positive far right (Cook's distances and leverages of the 0/1 regression).
x <- c(1:8, 30)
y <- c(0, 0, 0, 0, 1, 1, 1, 1, 1)
line <- lm(y ~ x)
counts <- c(1, 2, 1, 3, 1, 1, 2, 1, 1)
repeated <- lm(rep(y, counts) ~ rep(x, counts))

cat("{\n",
  '  "r": "', R.version.string, '",\n',
  '  "MASS": "', as.character(packageVersion("MASS")), '",\n',
  '  "rows": [', paste(some - 1, collapse = ", "), "],\n",
  '  "lda_scaling": ', matrix_rows(linear$scaling), ",\n",
  '  "lda_trace": ', vector(linear$svd^2 / sum(linear$svd^2)), ",\n",
  '  "lda_x": ', matrix_rows(predict(linear, iris)$x[some, ]), ",\n",
  '  "lda_posterior": ', matrix_rows(predict(linear, iris)$posterior[some, ]), ",\n",
  '  "lda_prior_scaling": ', matrix_rows(weighed$scaling), ",\n",
  '  "lda_prior_trace": ', vector(weighed$svd^2 / sum(weighed$svd^2)), ",\n",
  '  "lda_prior_posterior": ', matrix_rows(predict(weighed, iris)$posterior[some, ]), ",\n",
  '  "lda_errors": [', paste(which(predict(linear, iris)$class != iris$Species) - 1, collapse = ", "), "],\n",
  '  "qda_posterior": ', matrix_rows(predict(quadratic, iris)$posterior[some, ]), ",\n",
  '  "qda_prior_posterior": ', matrix_rows(predict(quadratic_weighed, iris)$posterior[some, ]), ",\n",
  '  "qda_errors": [', paste(which(predict(quadratic, iris)$class != iris$Species) - 1, collapse = ", "), "],\n",
  '  "hat": ', vector(hatvalues(line)), ",\n",
  '  "cook": ', vector(cooks.distance(line)), ",\n",
  '  "counts": [', paste(counts, collapse = ", "), "],\n",
  '  "weighted_coef": ', vector(coef(repeated)), "\n",
  "}\n", sep = "")
