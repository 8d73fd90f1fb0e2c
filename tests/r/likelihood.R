# Reference numbers for tests/classifiers/test_r_likelihoods.py: multinomial fits of nnet, ridge paths of glmnet.
# Run in this folder: Rscript likelihood.R > likelihood.json
# Needs R's MASS, nnet and glmnet; numbers are printed with 17 digits, which read back to the same doubles.
suppressMessages({library(MASS); library(nnet); library(glmnet)})

number <- function(x) sprintf("%.17g", x)
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
matrix_rows <- function(M) paste0("[", paste(apply(M, 1, vector), collapse = ",\n    "), "]")

# Multinomial by maximum likelihood: the glass data, three of its classes that overlap, in three columns.
glass <- subset(fgl, type %in% c("WinF", "WinNF", "Veh"))
glass$type <- factor(as.character(glass$type), levels = c("WinF", "WinNF", "Veh"))
many <- multinom(type ~ RI + Na + Al, glass, reltol = 1e-16, abstol = 1e-16, maxit = 10000, trace = FALSE)

# Ridge paths: (1/N) sum of the log loss + lambda/2 |b|^2, no standardising; tight thresholds.
lambdas <- c(1, 0.1, 0.01, 0.001)
two <- subset(iris, Species != "setosa")
X2 <- as.matrix(two[, 1:4])
y2 <- as.integer(two$Species == "virginica")
binary <- glmnet(X2, y2, family = "binomial", alpha = 0, lambda = lambdas, standardize = FALSE,
                 thresh = 1e-18, maxit = 1e7)
# The smallest lambda does not converge in glmnet at this threshold with three classes.
X3 <- as.matrix(iris[, 1:4])
three <- glmnet(X3, iris$Species, family = "multinomial", alpha = 0, lambda = lambdas[1:3], standardize = FALSE,
                thresh = 1e-18, maxit = 1e7)

cat("{\n",
  '  "r": "', R.version.string, '",\n',
  '  "nnet": "', as.character(packageVersion("nnet")), '",\n',
  '  "glmnet": "', as.character(packageVersion("glmnet")), '",\n',
  '  "glass_X": ', matrix_rows(as.matrix(glass[, c("RI", "Na", "Al")])), ",\n",
  '  "glass_y": [', paste0('"', glass$type, '"', collapse = ", "), "],\n",
  '  "multinom": ', matrix_rows(coef(many)), ",\n",
  '  "multinom_log_likelihood": ', number(as.numeric(logLik(many))), ",\n",
  '  "lambdas": ', vector(lambdas), ",\n",
  '  "binary": ', matrix_rows(t(as.matrix(coef(binary)))), ",\n",
  '  "three": [', paste(sapply(coef(three), function(M) matrix_rows(t(as.matrix(M)))), collapse = ",\n  "), "]\n",
  "}\n", sep = "")
