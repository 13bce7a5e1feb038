#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 580s
# The unit tests again with the address, undefined-behaviour and leak sanitizers.
set -e
make -s SAN=1 CC=gcc unit-programs
exec "$PYTHON" tests/lanes/unit.py build-san -random -cuda -opencl
