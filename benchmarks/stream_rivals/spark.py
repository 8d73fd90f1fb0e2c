"""Spark ML's logistic regression on two local cores. It needs Java."""

from __future__ import annotations

import numpy as np
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession


def fit(path: str, names: list[str], C: float) -> np.ndarray:
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    spark = builder.config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    table = spark.read.parquet(path)
    rows = VectorAssembler(inputCols=names, outputCol="features").transform(table)
    learner = LogisticRegression(labelCol="y", regParam=1.0 / (C * table.count()), standardization=False)
    model = learner.setTol(1e-9).setMaxIter(200).fit(rows.select("features", "y"))
    return np.concatenate([[model.intercept], model.coefficients.toArray()])
