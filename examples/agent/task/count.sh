#!/bin/sh
# Prints the number of different words of standard input.
tr -s ' ' '\n' | sort | wc -l
