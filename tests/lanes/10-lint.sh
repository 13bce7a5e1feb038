#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 20s
# The rules of docs/STYLE.md that a script can check.
exec make -s lint
