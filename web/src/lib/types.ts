// The parts of the server's documents that the pages draw: docs/format/answers has all of them.
import type { Comparison, Number_ } from './format';

export interface Hypothesis {
  id: string;
  family: string;
  title: string;
  mechanism: string;
  change: Record<string, unknown>;
  predicted_gain: number;
  ceiling_share: number;
  bottleneck: string;
  origin: { kind: string; ref: string };
  key: string;
}

export interface Verdict {
  kind: string;
  reason: string;
  comparison?: Comparison | null;
  at: number;
}

export interface Vote {
  check: string;
  vote: string;
  decisive: boolean;
  mandatory: boolean;
  because: string;
}

export interface LedgerEvent {
  seq: number;
  at_ns: number;
  actor: string;
  kind: string;
  subject: string;
  payload: Record<string, unknown>;
  hash: string;
}

export interface Parked {
  pairs_to_settle: number;
  e_better: number;
  e_no_effect: number;
  e_asked: number;
}

export interface LiveExperiment {
  id: string;
  hypothesis: string;
  title: string;
  family: string;
  stage: string;
  parked: Parked | null;
  in_flight: number;
  comparison: Comparison;
}

export interface Rollback {
  hypothesis: string;
  family: string;
  because: string;
  to_do: string;
}

export interface Status {
  tallies: Record<string, number>;
  experiments: LiveExperiment[];
  families: { family: string; profiled: boolean; same_pairs: number; volume_accelerator_h_per_day: number }[];
  queued: number;
  in_flight: number;
  pending_at_gate: number;
  under_test_accelerator_h_per_day: number;
  rollbacks_proposed: Rollback[];
  budgets?: Record<string, { limit: number | null; committed: number; spent: number; overrun: number }>;
  next: { family?: string; why?: string } | null;
  lease?: { holder: string; host: string; taken_ns: number };
  campaign?: { k: number; alpha: number; registered: number; promoted: number };
}

export interface GateItem {
  state: string;
  digest: string;
  packet: {
    experiment: string;
    hypothesis: string;
    family: string;
    claim: string;
    comparison: Comparison;
    votes: Vote[];
    diff: string;
    spent_accelerator_s: number;
    saves_accelerator_h_per_day: number;
    holds_for: string;
    rollback: string;
  };
  decision: { approved: boolean; actor: string; reason: string; packet: string };
}

export interface Gate {
  gate: GateItem[];
  rollbacks_proposed: Rollback[];
}

export interface RoiMonth {
  month: string;
  family: string;
  spent_accelerator_h: number;
  spent_usd: number;
  jobs: number;
  used_accelerator_h: number;
  banked_accelerator_h: number;
  banked_lower_accelerator_h: number;
  banked_upper_accelerator_h: number;
  banked_usd: number;
  banked_lower_usd: number;
  banked_upper_usd: number;
}

export interface RoiRow {
  family: string;
  spent_accelerator_s: number;
  spent_usd: number;
  promoted: number;
  predicted_share: number;
  realised_share: number | null;
  realised_lower: number | null;
  realised_upper: number | null;
  realised_pairs: number;
  volume_accelerator_h_per_day: number;
  without_accelerator_h_per_day: number;
  saved_accelerator_h_per_day: number;
  saved_usd_per_month: number;
  banked: RoiMonth | null;
}

export interface Roi {
  price_usd: number;
  months: RoiMonth[];
  banked: RoiMonth;
  families: RoiRow[];
  spent_accelerator_h: number;
  spent_usd: number;
  saved_accelerator_h_per_day: number;
  saved_usd_per_month: number;
  pays_back_days: number | null;
  prevented: { ideas: number; pairs: number; accelerator_h: number; usd: number };
}

export interface Split {
  allocated: number;
  unobserved: number;
  idle: number;
  low: number;
  productive: number;
}

export interface Lever {
  action: string;
  against: string;
  ceiling: number;
  chance: number;
  recoverable_accelerator_s: number;
}

export interface Leak {
  accelerator_s: number;
  usd: number | null;
  accelerator_h_per_day: number | null; // Nothing if the window is shorter than a day.
  usd_per_day: number | null;
}

// What to do about waste, and what it would return.
export interface Action {
  id: string;
  title: string;
  confirmed: boolean;
  recovered_accelerator_s: number;
  recovered_lower_accelerator_s: number;
  recovered_upper_accelerator_s: number;
  recovered_accelerator_h_per_week: number;
  recovered_usd_per_week: number | null;
  jobs: number;
  users: number;
  confidence: number;
  confidence_lower: number;
  confidence_upper: number;
  basis: string;
  because: string;
  command: string;
}

export interface FleetRow {
  name: string;
  detail: string;
  jobs: number;
  failed: number;
  split_accelerator_s: Split;
  wasted_accelerator_s: Number_;
  queue_accelerator_s: number;
  lost_in_failed_accelerator_s: number;
  recoverable_accelerator_s: Number_;
  utilisation: number | null;
  usd: { allocated: number; wasted: number | null; recoverable: number | null } | null;
  lever: { action: string; against: string; ceiling: number; chance: number; from: string };
  levers: Lever[];
  worst_job: string;
  why: string;
}

export interface Fleet {
  jobs: number;
  window?: { start_s: number; end_s: number };
  totals?: {
    families: number;
    users: number;
    failed: number;
    split_accelerator_s: Split;
    wasted_accelerator_s: Number_;
    per_day: { wasted_accelerator_h: number | null; recoverable_accelerator_h: number | null; wasted_usd: number | null; recoverable_usd: number | null } | null;
    queue_accelerator_s: number;
    lost_in_failed_accelerator_s: number;
    recoverable_accelerator_s: Number_;
    usd: { allocated: number; wasted: number | null; lost: number; recoverable: number | null } | null;
    utilisation_mean: number | null;
  };
  families: FleetRow[];
  actions?: Action[];
  leaking?: { confirmed: Leak; suspected: Leak };
  waiting?: { kind: string; queued_accelerator_s: number; while_idle_accelerator_s: number; while_free_accelerator_s: number | null }[];
  failures?: { productive_accelerator_s: number }[];
  trend?: { says: string; can_tell: boolean; change: number } | null;
  capacity?: { total_accelerator_s: number | null; unallocated_accelerator_s: number | null };
  missing?: string[];
  unreadable: string[];
}

export interface FleetRows {
  by: string;
  skip: number;
  count: number;
  rows: FleetRow[];
  age_s: number | null;
  trouble: string;
}

export interface TrendWindow {
  start_s: number;
  end_s: number;
  jobs: number;
  waste_share: number | null;
  lower: Number_;
  upper: Number_;
}

export interface Trends {
  trends: { of: string; family: string; windows: TrendWindow[]; halves: { says: string } | null }[];
}

export interface Own {
  by: string;
  name: string;
  window: { start_s: number; end_s: number };
  jobs: number;
  failed: number;
  split_accelerator_s: Split;
  wasted_accelerator_s: number | null;
  lost_in_failed_accelerator_s: number;
  families: { name: string; jobs: number; split_accelerator_s: Split; wasted_accelerator_s: number | null }[];
  worst: {
    job: string;
    name: string;
    family: string;
    state: string;
    start_s: number;
    split_accelerator_s: Split;
    wasted_accelerator_s: number | null;
    part: string;
    evidence: string;
    action: string;
  }[];
}

export interface Moved {
  by: string;
  name: string;
  before_s: number;
  after_s: number;
  change_s: number;
  lower_s: number | null;
  upper_s: number | null;
  can_tell: boolean;
}

export interface Trace {
  wall_ns?: number;
  bottleneck?: string;
  sources?: unknown[];
  causes?: { id: string; name: string; accelerator_seconds: number; share: number; ceiling: number | null; because: string; try: string }[];
  ranks?: { ranks: { rank: number; comm_ns: number; exposed_ns: number; waited_ns: number; made_wait_ns: number }[]; note: string; straggler?: number };
  pipeline?: {
    ranks: number;
    stages: number;
    steps: { number: number }[];
    slowdown: number;
    by_rank: { rank: number | string; slowdown: number; by_step: number[] }[];
    by_stage: { stage: number | string; slowdown: number; by_step: number[] }[];
    advice: string[];
  };
  before?: string;
  after?: string;
  by_step?: boolean;
  steps_before?: number;
  steps_after?: number;
  whole?: Moved;
  change?: number;
  change_lower?: number | null;
  change_upper?: number | null;
  moved?: Moved[];
  notes?: string[];
}

export interface Story {
  hypothesis: Hypothesis;
  state: string;
  votes: Vote[];
  events: LedgerEvent[];
  verdict?: Verdict;
  parked?: Parked;
  stage?: string;
  experiment?: { id: string; claim: number; cap: number; sigma: number; delta: number; metric: string };
  comparison?: Comparison;
}

export interface LedgerRow {
  hypothesis: Hypothesis;
  state: string;
  verdict?: Verdict;
  parked?: Parked;
  lesson?: { text: string; next: string[] };
}

export interface Receipt {
  host?: string;
  argv?: string[];
  wall_ns?: number;
  ending?: string;
  code?: number;
  work?: number | null;
  digest?: string;
  stdout_tail?: string;
  stderr_tail?: string;
  outputs?: Record<string, unknown>;
}

export interface Receipts {
  reservation: string;
  receipts: { arm: string; receipt: Receipt | null; missing: string }[];
}

export interface HypothesisList {
  total: number;
  before: number | null;
  hypotheses: LedgerRow[];
}

export interface PairRow {
  index: number;
  reservation: string;
  purpose: string;
  state: string;
  voided: boolean;
  because: string;
  order: 'AB' | 'BA';
  host: string | null;
  a_per_work: number | null;
  b_per_work: number | null;
  effect: number | null;
  at_ns: number;
  spent_accelerator_s: number;
  after: { pairs: number; effect: Number_; lower: Number_; upper: Number_; log_e_win: Number_ } | null;
}

export interface Pairs {
  experiment: string;
  hypothesis: string;
  work_unit: string;
  e_better: number;
  pairs: PairRow[];
}

export interface Span {
  name: string;
  start_s: number;
  seconds: number;
}

// Why the accelerators of a family wait.
export interface FamilyProfile {
  bottleneck: string;
  at_ns: number;
  causes: { id: string; name: string; bottleneck: string; share: Number_; ceiling: Number_; because: string; try: string; file?: string; line?: number }[];
}

// Lost time of a job by its kind, as telemetry shows it.
export interface Part {
  kind: string;
  against: string; // The class of causes behind such a loss.
  action: string;
  accelerator_seconds: number;
  evidence: string;
}

export interface Anatomy {
  job: string;
  family: string;
  wall_s: number;
  queue_s: number | null;
  labels: string[];
  no_timeline: string;
  stages: Span[];
  metric: string;
  split_accelerator_s: Split;
  accelerators: { activity: string; start_s: number; seconds: number }[][];
  phases: Span[];
  parts: Part[];
  table: { name: string; accelerator_seconds: number; share: number; ceiling: number | null; is_compute: boolean }[];
}
