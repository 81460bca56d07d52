#!/usr/bin/env python3
"""Writes dashboard.json: the metrics of amdahl serve, for Grafana 9 and later."""
import json

ROWS = [
    ("Saved a month (USD)", "stat", "sum(amdahl_saved_usd_per_month)", "currencyUSD", ""),
    ("Spent (USD)", "stat", "sum(amdahl_spent_usd_total)", "currencyUSD", ""),
    ("Claims that wait for a person", "stat", "amdahl_gate_pending", "short", ""),
    ("Rollbacks proposed", "stat", "amdahl_rollbacks_proposed", "short", ""),
    ("Saved accelerator time a day", "timeseries", "amdahl_saved_accelerator_seconds_per_day", "s", "{{family}}"),
    ("Experiments by stage", "timeseries", "amdahl_experiments", "short", "{{stage}}"),
    ("Verdicts", "timeseries", "amdahl_verdicts_total", "short", "{{verdict}}"),
    ("Accelerator time spent", "timeseries", "rate(amdahl_spent_accelerator_seconds_total[1h])", "short", "{{family}}"),
    ("Budget used", "timeseries", "(amdahl_budget_spent + amdahl_budget_committed) / amdahl_budget_limit", "percentunit", "{{resource}}"),
    ("Responses of the server", "timeseries", "rate(amdahl_http_responses_total[5m])", "reqps", "{{code}}"),
]

panels = []
x = y = 0
for number, (title, kind, query, unit, legend) in enumerate(ROWS, 1):
    width, height = (6, 4) if kind == "stat" else (12, 8)
    if x + width > 24:
        x, y = 0, y + last
    last = height
    panels.append({
        "id": number, "title": title, "type": kind,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"x": x, "y": y, "w": width, "h": height},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [{"expr": query, "legendFormat": legend, "refId": "A"}],
    })
    x += width

print(json.dumps({
    "title": "Amdahl Loop", "uid": "amdahl-loop", "schemaVersion": 38, "tags": ["amdahl"],
    "time": {"from": "now-7d", "to": "now"}, "refresh": "1m",
    "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
    "panels": panels,
}, indent=1))
