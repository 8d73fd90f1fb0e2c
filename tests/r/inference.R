# Reference numbers for tests/core/firth/test_r.py and tests/statistics/inference/test_r.py: bias-reduced fits of brglm2, and profile
# intervals of maximum likelihood.
# Run in this folder: Rscript inference.R > inference.json
# Needs R's MASS and brglm2; numbers are printed with 17 digits, which read back to the same doubles.
suppressMessages({library(MASS); library(brglm2)})

number <- function(x) sprintf("%.17g", x)
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
words <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
matrix_rows <- function(M) paste0("[", paste(apply(M, 1, vector), collapse = ",\n    "), "]")
object <- function(...) {
  parts <- c(...)
  paste0("{\n    ", paste0('"', names(parts), '": ', parts, collapse = ",\n    "), "\n  }")
}
design <- function(formula, data) model.matrix(formula, data)[, -1, drop = FALSE]
tight <- glm.control(epsilon = 1e-13, maxit = 200)
# type = "AS_mean" is Firth's adjustment: for these links the maximum of the likelihood times |I|^(1/2).
reduced <- list(type = "AS_mean", epsilon = 1e-12, maxit = 1000)

fitted <- function(X, y, weights, model) object(
  X = matrix_rows(X), y = vector(y), weights = vector(weights),
  coef = vector(coef(model)), std_err = vector(sqrt(diag(vcov(model)))))

# Two species of lizards on perches: Schoener 1970; McCullagh and Nelder, Generalized Linear Models, section 4.6.
site <- ~ height + diameter + light + time
perches <- rbind(cbind(lizards, count = lizards$grahami, y = 1), cbind(lizards, count = lizards$opalinus, y = 0))
perches <- subset(perches, count > 0)
on_perches <- glm(update(site, y ~ .), binomial, perches, weights = count, method = "brglmFit", control = reduced)
lizards_likelihood <- glm(update(site, y ~ .), binomial, perches, weights = count, control = tight)

# The histology of the endometrium: Heinze and Schemper 2002; separated by NV.
cells <- glm(HG ~ NV + PI + EH, binomial, endometrial, method = "brglmFit", control = reduced)

# Primary food choice of alligators: Delany and Moore; Agresti, Categorical Data Analysis, section 7.1.2.
eaten <- subset(alligators, freq > 0)
food <- brmultinom(foodchoice ~ size + lake, weights = freq, data = alligators, ref = 1, control = reduced)
all_columns <- brmultinom(foodchoice ~ size + lake + gender, weights = freq, data = alligators, ref = 1,
                          control = reduced)

# Low birth weight: Hosmer and Lemeshow, Applied Logistic Regression, as in MASS.
birth <- within(birthwt, {race <- factor(race); ptd <- as.integer(ptl > 0); lwt <- as.numeric(lwt)})
risks <- ~ age + lwt + race + smoke + ptd + ht + ui
low <- glm(update(risks, low ~ .), binomial, birth, control = tight)

# MASS takes ends of intervals from a spline through some points; here each end solves deviance = minimum + chi-squared.
profiled <- function(X, y, weights, model, level = 0.95) {
  M <- cbind(1, X)
  drop <- qchisq(level, 1)
  ends <- sapply(seq_len(ncol(M)), function(j) {
    beta <- coef(model)[j]
    excess <- function(b) glm.fit(M[, -j, drop = FALSE], y, weights, offset = b * M[, j], family = binomial(),
                                  control = tight)$deviance - deviance(model) - drop
    error <- sqrt(diag(vcov(model)))[j]
    sapply(c(-1, 1), function(side) uniroot(excess, beta + side * error * c(0.1, 4), tol = 1e-12)$root)
  })
  object(X = matrix_rows(X), y = vector(y), weights = vector(weights), coef = vector(coef(model)),
         std_err = vector(sqrt(diag(vcov(model)))), log_likelihood = number(as.numeric(logLik(model))),
         low = vector(ends[1, ]), high = vector(ends[2, ]),
         confint = matrix_rows(suppressMessages(confint(model, level = level))))
}

ones <- function(data) rep(1, nrow(data))
cat("{\n",
  '  "r": "', R.version.string, '",\n',
  '  "brglm2": "', as.character(packageVersion("brglm2")), '",\n',
  '  "MASS": "', as.character(packageVersion("MASS")), '",\n',
  '  "lizards": ', fitted(design(site, perches), perches$y, perches$count, on_perches), ",\n",
  '  "endometrial": ', fitted(design(~ NV + PI + EH, endometrial), endometrial$HG, ones(endometrial), cells), ",\n",
  '  "alligators": ', object(
    X = matrix_rows(design(~ size + lake + gender, eaten)), y = words(eaten$foodchoice), weights = vector(eaten$freq),
    classes = words(levels(eaten$foodchoice)),
    coef = matrix_rows(coef(food)), std_err = matrix_rows(summary(food)$standard.errors),
    coef_with_gender = matrix_rows(coef(all_columns))), ",\n",
  '  "lizards_profiles": ', profiled(design(site, perches), perches$y, perches$count, lizards_likelihood), ",\n",
  '  "birthwt": ', profiled(design(risks, birth), birth$low, ones(birth), low), "\n",
  "}\n", sep = "")
