import type { Alert } from '../alert';
import { above, atLeast, growing, olderThan, steady, TICKET_MINUTE, TICKET_WINDOW } from '../alert';

/** Answers that leave a call without a result. */
const WITHOUT_RESULT = 'answer=~"unknown|not-executed|not-sent|unavailable"';
/** Inquiries may end in "unknown": they are repeated. */
const ORDERS = 'operation!~"inquire|cancel"';
const CALLS = 'gateway_outbound_call_seconds_count';
const BY = 'sum by (service, counterpart)';
const ALL_CALLS = `${BY} (rate(${CALLS}{${ORDERS}}[5m]))`;
const UNANSWERED = `${CALLS}{${ORDERS},${WITHOUT_RESULT}}`;
const UNANSWERED_SHARE = `(${BY} (rate(${UNANSWERED}[5m])) or 0 * ${ALL_CALLS}) / ${ALL_CALLS}`;
const UNANSWERED_CALLS = `${BY} (increase(${UNANSWERED}[5m])) or 0 * ${ALL_CALLS}`;
/** With little traffic a single call may be a large share. */
const UNANSWERED_MIN = 6;

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Acquirers, banks and the directory server. */
export const counterpartAlerts: readonly Alert[] = [
  {
    name: 'CircuitOpen',
    severity: 'page',
    when: [[above('max by (service, counterpart) (gateway_outbound_circuit_open)', 0)]],
    forMinutes: 1,
    summary:
      '{{ $labels.counterpart }} has stopped answering; {{ $labels.service }} calls it only to find out when it is back.',
    test: {
      atMinute: 5,
      fires: {
        series: { 'gateway_outbound_circuit_open{service="payout",counterpart="bank",lane="arriving"}': steady(1) },
        labels: { service: 'payout', counterpart: 'bank' },
      },
      silent: { 'gateway_outbound_circuit_open{service="payout",counterpart="bank",lane="arriving"}': steady(0) },
    },
  },
  {
    name: 'CallsUnanswered',
    severity: 'page',
    when: [[above(UNANSWERED_SHARE, 0.1), atLeast(UNANSWERED_MIN, UNANSWERED_CALLS)]],
    forMinutes: 3,
    summary:
      'More than a tenth of the calls of {{ $labels.service }} to {{ $labels.counterpart }} get no usable answer.',
    test: {
      atMinute: 15,
      fires: {
        series: {
          [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="settled"}`]: growing(80),
          [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="unknown"}`]: growing(10),
          [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="not-sent"}`]: growing(10),
        },
        labels: { service: 'payout', counterpart: 'bank' },
      },
      silent: {
        [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="settled"}`]: growing(95),
        [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="unknown"}`]: growing(5),
        [`${CALLS}{service="payout",counterpart="bank",operation="inquire",answer="unknown"}`]: growing(100),
      },
      more: [
        {
          what: 'is silent after one unknown call of little traffic',
          atMinute: 15,
          series: {
            [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="settled"}`]: '0+0x10 1+0x10',
            [`${CALLS}{service="payout",counterpart="bank",operation="submit",answer="unknown"}`]: '0+0x10 1+0x10',
          },
        },
      ],
    },
  },
  {
    name: 'CallsRefused',
    severity: 'ticket',
    when: [[above('sum by (service, counterpart, reason) (rate(gateway_outbound_refused_total[5m]))', 0)]],
    forMinutes: 5,
    summary: '{{ $labels.service }} does not make calls to {{ $labels.counterpart }} ({{ $labels.reason }}).',
    test: {
      atMinute: 15,
      fires: {
        series: {
          'gateway_outbound_refused_total{service="payout",counterpart="bank",reason="bulkhead-full"}': growing(3),
        },
        labels: { service: 'payout', counterpart: 'bank', reason: 'bulkhead-full' },
      },
      silent: {
        'gateway_outbound_refused_total{service="payout",counterpart="bank",reason="bulkhead-full"}': '0+0x11 9+0x30',
      },
    },
  },
  {
    name: 'CounterpartSlow',
    severity: 'ticket',
    when: [
      [
        above(
          'histogram_quantile(0.95, sum by (service, counterpart, operation, le) (rate(gateway_outbound_call_seconds_bucket[5m])))',
          2.5,
        ),
      ],
    ],
    forMinutes: 10,
    summary: '{{ $labels.counterpart }} takes more than 2.5 s for {{ $labels.operation }}.',
    test: {
      atMinute: 20,
      fires: {
        series: {
          'gateway_outbound_call_seconds_bucket{service="payout",counterpart="bank",operation="submit",le="2.5"}':
            growing(50),
          'gateway_outbound_call_seconds_bucket{service="payout",counterpart="bank",operation="submit",le="5"}':
            growing(100),
          'gateway_outbound_call_seconds_bucket{service="payout",counterpart="bank",operation="submit",le="+Inf"}':
            growing(100),
        },
        labels: { service: 'payout', counterpart: 'bank', operation: 'submit' },
      },
      silent: {
        'gateway_outbound_call_seconds_bucket{service="payout",counterpart="bank",operation="submit",le="2.5"}':
          growing(96),
        'gateway_outbound_call_seconds_bucket{service="payout",counterpart="bank",operation="submit",le="5"}':
          growing(100),
        'gateway_outbound_call_seconds_bucket{service="payout",counterpart="bank",operation="submit",le="+Inf"}':
          growing(100),
      },
    },
  },
  {
    name: 'ChallengesUnanswered',
    severity: 'ticket',
    when: [
      [
        above(
          '(sum(rate(gateway_authentications_total{outcome="3024"}[30m])) or vector(0)) / sum(rate(gateway_authentications_total{outcome="challenge"}[30m]))',
          0.5,
        ),
      ],
    ],
    forMinutes: 15,
    summary: 'Most 3-D Secure challenges end without a result.',
    test: {
      atMinute: 50,
      fires: {
        series: {
          'gateway_authentications_total{outcome="challenge"}': growing(10),
          'gateway_authentications_total{outcome="3024"}': growing(9),
        },
        labels: {},
      },
      silent: {
        'gateway_authentications_total{outcome="challenge"}': growing(10),
        'gateway_authentications_total{outcome="3024"}': growing(2),
      },
    },
  },
];

/** Payments, payouts and callbacks. */
export const businessAlerts: readonly Alert[] = [
  {
    name: 'OutcomeUnknownForHours',
    severity: 'ticket',
    when: [[olderThan('max by (service) (gateway_unknown_outcome_oldest_seconds)', 2 * HOUR)]],
    forMinutes: 5,
    summary: 'An outcome has been unknown to {{ $labels.service }} for more than two hours.',
    test: {
      atMinute: 10,
      fires: {
        series: { 'gateway_unknown_outcome_oldest_seconds{service="payout"}': steady(2 * HOUR + 1) },
        labels: { service: 'payout' },
      },
      silent: { 'gateway_unknown_outcome_oldest_seconds{service="payout"}': steady(2 * HOUR - 1) },
    },
  },
  {
    name: 'DeadlinesOverdue',
    severity: 'ticket',
    when: [[above('max by (service, kind) (gateway_deadlines_overdue)', 0)]],
    forMinutes: 10,
    summary: '{{ $labels.service }} does not keep up with what is due ({{ $labels.kind }}).',
    test: {
      atMinute: 15,
      fires: {
        series: { 'gateway_deadlines_overdue{service="auth-expiry",kind="authorization"}': steady(4) },
        labels: { service: 'auth-expiry', kind: 'authorization' },
      },
      silent: { 'gateway_deadlines_overdue{service="auth-expiry",kind="authorization"}': '4+0x8 0+0x30' },
    },
  },
  {
    name: 'HoldNotEnded',
    severity: 'ticket',
    when: [[olderThan('max(expiry_oldest_hold_seconds)', 24 * HOUR)]],
    forMinutes: 10,
    summary: "A cardholder's money is still held a day after the authorization has ended.",
    test: {
      atMinute: 15,
      fires: { series: { expiry_oldest_hold_seconds: steady(24 * HOUR + 1) }, labels: {} },
      silent: { expiry_oldest_hold_seconds: steady(24 * HOUR - 1) },
    },
  },
  {
    name: 'CallbacksExhausted',
    severity: 'ticket',
    when: [[above(`sum by (kind) (increase(callback_deliveries_total{end="exhausted"}${TICKET_WINDOW}))`, 0)]],
    forMinutes: 0,
    summary: 'A merchant has acknowledged no attempt of a {{ $labels.kind }} callback, and no more follow.',
    test: {
      atMinute: TICKET_MINUTE,
      fires: {
        series: { 'callback_deliveries_total{kind="card",end="exhausted"}': `0+0x10 1+0x${TICKET_MINUTE}` },
        labels: { kind: 'card' },
      },
      silent: {
        'callback_deliveries_total{kind="card",end="exhausted"}': steady(4, TICKET_MINUTE),
        'callback_deliveries_total{kind="card",end="delivered"}': growing(10, TICKET_MINUTE),
      },
    },
  },
  {
    name: 'CallbacksNotAcknowledged',
    severity: 'ticket',
    when: [
      [
        above(
          '1 - (sum(rate(callback_attempts_total{outcome="acknowledged"}[15m])) or vector(0)) / sum(rate(callback_attempts_total[15m]))',
          0.5,
        ),
      ],
    ],
    forMinutes: 15,
    summary: 'Most attempts of callbacks fail.',
    test: {
      atMinute: 40,
      fires: {
        series: {
          'callback_attempts_total{kind="card",outcome="acknowledged"}': growing(4),
          'callback_attempts_total{kind="card",outcome="failed"}': growing(6),
        },
        labels: {},
      },
      silent: {
        'callback_attempts_total{kind="card",outcome="acknowledged"}': growing(6),
        'callback_attempts_total{kind="card",outcome="timed_out"}': growing(4),
      },
    },
  },
  {
    name: 'PayoutsHeld',
    severity: 'ticket',
    when: [[above('max(gateway_payouts_held)', 0)], [above('max(gateway_payout_holds)', 0)]],
    forMinutes: 30,
    summary: 'Payouts are held.',
    test: {
      atMinute: 40,
      fires: {
        series: { gateway_payouts_held: steady(0), 'gateway_payout_holds{scope="all"}': steady(1) },
        labels: {},
      },
      silent: { gateway_payouts_held: '3+0x25 0+0x30', 'gateway_payout_holds{scope="all"}': steady(0) },
    },
  },
  {
    name: 'BatchesHeld',
    severity: 'ticket',
    when: [[above('max(gateway_iso20022_held_batches)', 0)]],
    forMinutes: 5,
    summary: 'A payment file waits for an operator.',
    test: {
      atMinute: 10,
      fires: { series: { gateway_iso20022_held_batches: steady(1) }, labels: {} },
      silent: { gateway_iso20022_held_batches: steady(0) },
    },
  },
  {
    name: 'BankReportsFailed',
    severity: 'ticket',
    when: [[above(`sum(increase(gateway_iso20022_reports_total{result="failed"}${TICKET_WINDOW}))`, 0)]],
    forMinutes: 0,
    summary: "A bank's report cannot be read.",
    test: {
      atMinute: TICKET_MINUTE,
      fires: {
        series: { 'gateway_iso20022_reports_total{result="failed"}': `0+0x10 1+0x${TICKET_MINUTE}` },
        labels: {},
      },
      silent: { 'gateway_iso20022_reports_total{result="failed"}': steady(2, TICKET_MINUTE) },
    },
  },
  {
    name: 'InboxFilesUnread',
    severity: 'ticket',
    when: [[above('max by (kind) (gateway_iso20022_inbox_files{kind=~"ahead|ignored"})', 0)]],
    forMinutes: 15,
    summary: 'Files lie unread in the inbox of bank reports ({{ $labels.kind }}).',
    test: {
      atMinute: 20,
      fires: { series: { 'gateway_iso20022_inbox_files{kind="ahead"}': steady(1) }, labels: { kind: 'ahead' } },
      silent: {
        'gateway_iso20022_inbox_files{kind="due"}': steady(7),
        'gateway_iso20022_inbox_files{kind="ignored"}': '1+0x10 0+0x30',
      },
    },
  },
  {
    name: 'BatchUnreported',
    severity: 'ticket',
    when: [[olderThan('max(gateway_iso20022_oldest_unreported_seconds)', 2 * DAY)]],
    forMinutes: 5,
    summary: 'The bank has not reported on a payment file for two days.',
    test: {
      atMinute: 10,
      fires: { series: { gateway_iso20022_oldest_unreported_seconds: steady(2 * DAY + 1) }, labels: {} },
      silent: { gateway_iso20022_oldest_unreported_seconds: steady(2 * DAY - 1) },
    },
  },
  {
    name: 'PayoutsUndecided',
    severity: 'ticket',
    when: [[above('max(gateway_iso20022_overdue_batches)', 0)]],
    forMinutes: 15,
    summary: 'The bank has reported on a payment file, and not how each of its payouts ended.',
    test: {
      atMinute: 20,
      fires: { series: { gateway_iso20022_overdue_batches: steady(1) }, labels: {} },
      silent: { gateway_iso20022_overdue_batches: '1+0x10 0+0x30' },
    },
  },
  {
    name: 'CardNumbersTried',
    severity: 'ticket',
    when: [[above('sum by (rule) (increase(gateway_velocity_declines_total{rule=~"card numbers .*"}[10m]))', 0)]],
    forMinutes: 0,
    summary: 'An account has sent all the card numbers that it may in a day ({{ $labels.rule }}).',
    test: {
      atMinute: 12,
      fires: {
        series: { 'gateway_velocity_declines_total{rule="card numbers by bin"}': '0+0x8 1+0x8' },
        labels: { rule: 'card numbers by bin' },
      },
      silent: { 'gateway_velocity_declines_total{rule="declines by ip"}': growing(11) },
    },
  },
  {
    name: 'SandboxFull',
    severity: 'ticket',
    when: [[above('max(gateway_sandbox_disk_ratio)', 0.8)]],
    forMinutes: 5,
    summary: 'What is kept of XTS needs most of its disk; beyond it XTS is refused.',
    test: {
      atMinute: 10,
      fires: { series: { 'gateway_sandbox_disk_ratio{service="api-edge",instance="a"}': steady(0.81) }, labels: {} },
      silent: { 'gateway_sandbox_disk_ratio{service="api-edge",instance="a"}': steady(0.8) },
    },
  },
  {
    name: 'SandboxQuotaReached',
    severity: 'ticket',
    when: [[above('sum(increase(gateway_sandbox_refused_total{limit="account"}[10m]))', 0)]],
    forMinutes: 0,
    summary: 'An account has made all the records in XTS that it may in a day.',
    test: {
      atMinute: 12,
      fires: {
        series: { 'gateway_sandbox_refused_total{service="api-edge",limit="account"}': '0+0x8 1+0x8' },
        labels: {},
      },
      silent: { 'gateway_sandbox_refused_total{service="api-edge",limit="disk"}': growing(11) },
    },
  },
  {
    name: 'CardTesting',
    severity: 'ticket',
    when: [[above('sum by (rule) (rate(gateway_velocity_declines_total[10m]))', 0.2)]],
    forMinutes: 10,
    summary: 'Somebody tries out cards: velocity rules decline many attempts ({{ $labels.rule }}).',
    test: {
      atMinute: 30,
      fires: {
        series: { 'gateway_velocity_declines_total{rule="declines by ip"}': growing(13) },
        labels: { rule: 'declines by ip' },
      },
      silent: { 'gateway_velocity_declines_total{rule="declines by ip"}': growing(11) },
    },
  },
  {
    name: 'ManyRefusals',
    severity: 'ticket',
    when: [[above('sum by (service, kind, reason) (rate(gateway_refusals_total[10m]))', 1)]],
    forMinutes: 10,
    summary:
      'Somebody tries out passwords or pages: {{ $labels.service }} refuses many requests ({{ $labels.kind }}, {{ $labels.reason }}).',
    test: {
      atMinute: 30,
      fires: {
        series: {
          'gateway_refusals_total{service="api-edge",kind="login",reason="wrong-credentials"}': growing(66),
        },
        labels: { service: 'api-edge', kind: 'login', reason: 'wrong-credentials' },
      },
      silent: {
        'gateway_refusals_total{service="api-edge",kind="login",reason="wrong-credentials"}': growing(54),
        'gateway_refusals_total{service="api-edge",kind="page",reason="unknown-page"}': growing(54),
      },
    },
  },
  {
    name: 'SharedSource',
    severity: 'ticket',
    when: [[above('max(gateway_source_accounts_max)', 20)]],
    forMinutes: 15,
    summary: 'Many merchants arrive from one address, so one of them can keep the others out.',
    test: {
      atMinute: 20,
      fires: { series: { gateway_source_accounts_max: steady(21) }, labels: {} },
      silent: { gateway_source_accounts_max: steady(20) },
    },
  },
  {
    name: 'ConnectionsClosed',
    severity: 'ticket',
    when: [[above('sum by (service, limit) (rate(gateway_connections_closed_total[5m]))', 0)]],
    forMinutes: 5,
    summary: '{{ $labels.service }} closes connections, because the limit ({{ $labels.limit }}) is reached.',
    test: {
      atMinute: 15,
      fires: {
        series: { 'gateway_connections_closed_total{service="api-edge",limit="source"}': growing(5) },
        labels: { service: 'api-edge', limit: 'source' },
      },
      silent: { 'gateway_connections_closed_total{service="api-edge",limit="source"}': '0+0x11 9+0x30' },
    },
  },
];
