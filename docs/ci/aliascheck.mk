# Targets for a project's own Makefile: include this file.
#
#   ALIASCHECK_TESTS = pytest tests/jax
#   include aliascheck.mk
#
# A gate, for every change:      make aliascheck
# The whole suite, every night:  make aliascheck-nightly
# To live with old findings:     make aliascheck-baseline

ALIASCHECK          ?= aliascheck
ALIASCHECK_TESTS    ?= pytest
ALIASCHECK_NIGHTLY  ?= $(ALIASCHECK_TESTS)
ALIASCHECK_BASELINE ?= .aliascheck-baseline.yaml
ALIASCHECK_REPORTS  ?= build/aliascheck
ALIASCHECK_FLAGS    ?=

aliascheck_reports = \
	--output json=$(ALIASCHECK_REPORTS)/$@.json \
	--output junit=$(ALIASCHECK_REPORTS)/$@.xml \
	--output html=$(ALIASCHECK_REPORTS)/$@.html
aliascheck_baseline = $(if $(wildcard $(ALIASCHECK_BASELINE)),--baseline $(ALIASCHECK_BASELINE))

.PHONY: aliascheck aliascheck-nightly aliascheck-baseline

aliascheck:
	@mkdir -p $(ALIASCHECK_REPORTS)
	$(ALIASCHECK) run $(aliascheck_baseline) $(aliascheck_reports) $(ALIASCHECK_FLAGS) -- $(ALIASCHECK_TESTS)

# One process for the whole suite: memory is assigned as no test alone assigns it.
aliascheck-nightly:
	@mkdir -p $(ALIASCHECK_REPORTS)
	$(ALIASCHECK) run --fail-on warning $(aliascheck_baseline) $(aliascheck_reports) $(ALIASCHECK_FLAGS) -- $(ALIASCHECK_NIGHTLY)

aliascheck-baseline:
	$(ALIASCHECK) run --baseline $(ALIASCHECK_BASELINE) --update-baseline $(ALIASCHECK_FLAGS) -- $(ALIASCHECK_NIGHTLY)
