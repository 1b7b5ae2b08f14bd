library(testthat)
library(stonet)

test_check("stonet")
