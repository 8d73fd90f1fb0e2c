"""The default number of held-out rows. Importing this does not import NumPy, so help texts are fast."""

# The default fraction of each class that is held out to evaluate the model.
TEST_SIZE = 0.25
