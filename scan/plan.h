/*-------------------------------------------------------------------------
 *
 * plan.h
 *		A planner that knows of filters.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef BLOOM_SCAN_PLAN_H
#define BLOOM_SCAN_PLAN_H

extern void BloomScanPlanInit(const bool *scan_enabled, const int *scan_testing);

#endif							/* BLOOM_SCAN_PLAN_H */
