library(testthat)
library(stonet)

set.seed(1) # fits that are not given a seed draw one
test_check("stonet")
