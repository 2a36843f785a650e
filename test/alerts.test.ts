// Test run: end-to-end, alone
/** Every fault of the table on the page about monitoring has an alert, and the alerts' conditions come true when the faults are played. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { postgres } from '@claimcheck/server/storage/postgres'
import { sqlite } from '@claimcheck/server/storage/sqlite'
import pg from 'pg'
import t, { type Test } from 'tap'
import { readPage } from './docs/markdown.ts'
import { metricsIn, RULES_FILE, readFaults, readRules } from './support/alerts.ts'
import { backUpStopped } from './support/backup.ts'
import { createDatabase } from './support/database.ts'
import { IS_THOROUGH } from './support/extent.ts'
import { freePort } from './support/free-port.ts'
import { Installation, type InstallationOptions } from './support/installation.ts'
import { startPostgres } from './support/postgres.ts'
import {
  PROMTOOL,
  type Prometheus,
  startPrometheus,
  WITHOUT_PROMETHEUS,
  WITHOUT_PROMTOOL,
} from './support/prometheus.ts'
import { CANNOT_MOUNT, fill, mountSmallDisk } from './support/small-disk.ts'
import { query } from './support/sql.ts'

const MINUTE_MS = 60_000
/** The rule looks back as far. */
const POOL_WAIT_MS = 30_000
const RULES = readRules()
const FAULTS = readFaults()

async function install(t: Test, options: InstallationOptions = {}): Promise<Installation> {
  return await Installation.during(t, { database: await createDatabase('sqlite'), ...options })
}

async function metricsOf(installation: Installation): Promise<string> {
  return (await installation.request('/metrics')).body
}

t.test('each fault has an alert, or a reason why none is needed', async (t) => {
  const names = RULES.map(({ name }) => name)
  t.ok(FAULTS.length >= 30, `${FAULTS.length} faults`)
  t.equal(new Set(FAULTS.map(({ fault }) => fault)).size, FAULTS.length)
  for (const { fault, alert } of FAULTS) t.ok(names.includes(alert) || /^none: .+/.test(alert), `${fault}: ${alert}`)
  const anchors = readPage(readFileSync('server/docs/monitoring.md', 'utf8')).anchors
  for (const { name, summary, runbook } of RULES) {
    t.ok(
      FAULTS.some(({ alert }) => alert === name),
      name,
    )
    t.match(summary, /\.$/, name)
    const [page, anchor = ''] = runbook.split('#')
    t.equal(page, '/docs/monitoring', name)
    t.ok(anchors.includes(anchor), runbook)
  }
})

t.test('what rules and dashboard name is served, by the rules for names', async (t) => {
  const installation = await install(t)
  const client = await installation.client('acme')
  await client.submit()
  const text = await metricsOf(installation)
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]))
  for (const [name, type] of [...types])
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) types.set(`${name}_${part}`, type)
  const dashboard = JSON.parse(readFileSync('server/deploy/grafana/dashboard.json', 'utf8'))
  const shown = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  )
  for (const expression of [...RULES.map((rule) => rule.expression), ...shown]) {
    const named = metricsIn(expression)
    t.ok(named.length > 0 || expression.startsWith('up'), expression)
    for (const name of named) t.ok(types.has(name), name)
  }
  t.match(text, /claimcheck_claims_decided_total\{action="test.outcome.reach",verdict="verified"\} 1/)
  t.match(text, /claimcheck_claim_decision_seconds_count\{action="test.outcome.reach"\} 1/)
  t.match(text, /claimcheck_http_request_duration_seconds_count\{method="POST",route="\/v1\/claims",status="2xx"\} 1/)
})

t.test('labels take no value that a client chooses', async (t) => {
  const installation = await install(t)
  const client = await installation.client('acme')
  await client.submit({ action: 'made.up.action', params: {} })
  await client.get('/v1/claims/clm_made_up')
  await client.get('/made-up?made-up')
  await client.request('/v1/claims', { method: 'PROPFIND' })
  const text = await metricsOf(installation)
  t.notMatch(text, /made.up/)
  t.match(text, /claimcheck_http_request_duration_seconds_count\{method="GET",route="",status="4xx"\} 1/)
  t.match(text, /claimcheck_checks_total\{action="unsupported",outcome="unsupported_action"\} 1/)
})

t.test('promtool finds nothing to say', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const installation = await install(t)
  const client = await installation.client('acme')
  await client.submit()
  const input = await metricsOf(installation)
  t.equal(execFileSync(PROMTOOL!, ['check', 'metrics'], { input, encoding: 'utf8' }), '')
  t.match(execFileSync(PROMTOOL!, ['check', 'rules', RULES_FILE], { encoding: 'utf8' }), /SUCCESS/)
})

/** Values of a series every 15 seconds, and what is seen of a rule at these times. */
const TIMELINES: readonly {
  readonly what: string
  readonly series?: readonly [name: string, values: string]
  /** One more, for rules of two. */
  readonly beside?: readonly [name: string, values: string]
  readonly alert: string
  readonly fires: Readonly<Record<string, number>>
}[] = [
  {
    what: 'a first 500',
    series: ['claimcheck_http_errors_total', '0x4 1x30'],
    alert: 'ClaimcheckErrors',
    fires: { '1m': 0, '90s': 1 },
  },
  {
    what: 'a first damaged page',
    series: ['claimcheck_database_errors_total{code="XX001"}', '0x4 1x30'],
    alert: 'ClaimcheckDatabaseDamaged',
    fires: { '90s': 1 },
  },
  {
    what: 'a first head that the log does not contain',
    series: ['claimcheck_tree_heads_heard_total{outcome="contradicting"}', '0x4 1x80'],
    alert: 'ClaimcheckHeadsContradict',
    fires: { '1m': 0, '90s': 1, '30m': 1 },
  },
  {
    what: 'a first head by a key that the log does not know',
    series: ['claimcheck_tree_heads_heard_total{outcome="unknown_key"}', '0x4 1x80'],
    alert: 'ClaimcheckHeadsOfUnknownKey',
    fires: { '1m': 0, '90s': 1, '30m': 1 },
  },
  {
    what: 'a failover of 20 seconds',
    series: ['claimcheck_database_errors_total{code="connection"}', '0x4 5 9x30'],
    alert: 'ClaimcheckDatabaseErrors',
    fires: { '90s': 0, '2m': 0, '150s': 0, '3m': 0, '4m': 0, '5m': 0 },
  },
  {
    what: 'a database that stays away',
    series: ['claimcheck_database_errors_total{code="connection"}', '0x4 1+1x30'],
    alert: 'ClaimcheckDatabaseErrors',
    fires: { '2m': 0, '5m': 1 },
  },
  {
    what: 'writes that end after ten seconds each',
    series: ['claimcheck_database_write_pending_seconds', '0x4 8 1 2 9 3 0 7 0x30'],
    alert: 'ClaimcheckAppendsStandStill',
    fires: { '1m': 0, '80s': 1, '2m': 1, '5m': 0 },
  },
  {
    what: 'hosts that agree within 20 seconds',
    series: ['claimcheck_host_read_only', '1 1 1 0x20'],
    alert: 'ClaimcheckHostReadOnly',
    fires: { '15s': 0, '30s': 0, '1m': 0, '2m': 0 },
  },
  {
    what: 'a moment in which all connections are in use',
    series: ['claimcheck_database_pool_waiting', '0 0 3 0x30'],
    alert: 'ClaimcheckPoolExhausted',
    fires: { '30s': 0, '1m': 0, '2m': 0, '3m': 0 },
  },
  {
    what: 'moments in which they are, one after another',
    series: ['claimcheck_database_pool_waiting', '0 3 0 2 0 3 0 4 0 3 0 2 0 3 0 4 0 3 0 2 0'],
    alert: 'ClaimcheckPoolExhausted',
    fires: { '2m': 0, '3m': 0, '5m': 0 },
  },
  {
    what: 'a pool in which all wait',
    series: ['claimcheck_database_pool_waiting', '0x4 3x30'],
    alert: 'ClaimcheckPoolExhausted',
    fires: { '2m': 0, '4m': 1 },
  },
  {
    what: 'a host whose secret key is rotated: three restarts',
    series: ['process_start_time_seconds{job="claimcheck"}', '1x8 2x8 3x8 4x60'],
    alert: 'ClaimcheckRestarts',
    fires: { '5m': 0, '10m': 0, '20m': 0 },
  },
  {
    what: 'a host that ends every minute',
    series: ['process_start_time_seconds{job="claimcheck"}', '1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x30'],
    alert: 'ClaimcheckRestarts',
    fires: { '3m': 0, '10m': 1 },
  },
  {
    what: 'reads that take more than ten seconds',
    series: ['claimcheck_http_request_duration_seconds_bucket{method="GET",le="10"}', '0+8x120'],
    beside: ['claimcheck_http_request_duration_seconds_bucket{method="GET",le="+Inf"}', '0+10x120'],
    alert: 'ClaimcheckAnswersSlow',
    fires: { '5m': 0, '15m': 1 },
  },
  {
    what: 'reads that do not',
    series: ['claimcheck_http_request_duration_seconds_bucket{method="GET",le="0.5"}', '0+10x120'],
    beside: ['claimcheck_http_request_duration_seconds_bucket{method="GET",le="+Inf"}', '0+10x120'],
    alert: 'ClaimcheckAnswersSlow',
    fires: { '5m': 0, '15m': 0 },
  },
  {
    what: 'messages to webhooks that no host sends',
    series: ['claimcheck_webhook_oldest_due_seconds', '0+15x160'],
    beside: ['claimcheck_webhook_tries_total{outcome="delivered"}', '0+5x20 100x140'],
    alert: 'ClaimcheckWebhooksStandStill',
    fires: { '10m': 0, '22m': 1 },
  },
  {
    what: 'messages that wait behind those of a receiver that fails',
    series: ['claimcheck_webhook_oldest_due_seconds', '0+15x160'],
    beside: ['claimcheck_webhook_tries_total{outcome="postponed"}', '0+1x160'],
    alert: 'ClaimcheckWebhooksStandStill',
    fires: { '10m': 0, '22m': 0, '35m': 0 },
  },
  {
    what: 'a disk with a tenth left',
    series: ['claimcheck_disk_free_bytes', '11x20 9x100'],
    beside: ['claimcheck_disk_size_bytes', '100x120'],
    alert: 'ClaimcheckDiskNearlyFull',
    fires: { '5m': 0, '15m': 1 },
  },
  {
    what: 'memory that a container does not have',
    series: ['claimcheck_memory_taken_bytes', '80x20 95x100'],
    beside: ['claimcheck_memory_limit_bytes', '100x120'],
    alert: 'ClaimcheckMemoryHigh',
    fires: { '5m': 0, '20m': 1 },
  },
  {
    what: 'a host that was down for 45 seconds',
    series: ['up{job="claimcheck"}', '1x4 0 0 0 1x30'],
    alert: 'ClaimcheckDown',
    fires: { '75s': 0, '90s': 0, '2m': 0, '3m': 0 },
  },
  {
    what: 'a host that stays down',
    series: ['up{job="claimcheck"}', '1x4 0x30'],
    alert: 'ClaimcheckDown',
    fires: { '2m': 0, '150s': 1 },
  },
  { what: 'no host is scraped', alert: 'ClaimcheckDown', fires: { '2m': 1 } },
]

t.test('alerts fire when they should, and not earlier', { skip: WITHOUT_PROMTOOL }, async (t) => {
  const tests = TIMELINES.map(({ what, series, beside, alert, fires }) => ({
    name: what,
    interval: '15s',
    input_series: [series, beside].flatMap((one) => (one ? [{ series: one[0], values: one[1] }] : [])),
    promql_expr_test: Object.entries(fires).map(([eval_time, count]) => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      eval_time,
      exp_samples: [{ labels: '{}', value: count }],
    })),
  }))
  const file = join(t.testdir(), 'timelines.yml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [resolve(RULES_FILE)], evaluation_interval: '15s', tests }))
  t.match(execFileSync(PROMTOOL!, ['test', 'rules', file], { encoding: 'utf8' }), /SUCCESS/)
})

t.test('codes of the database that alerts name are counted from 0', async (t) => {
  const counted = [...Object.keys(postgres.reasons), ...Object.keys(sqlite.reasons)]
  for (const { expression } of RULES)
    for (const code of /code!?=~"(.+?)"/.exec(expression)?.[1]?.split('|') ?? []) t.ok(counted.includes(code), code)
})

const played = new Set<string>()
let prometheus: Prometheus

function expressionOf(name: string): string {
  return RULES.find((rule) => rule.name === name)!.expression
}

/** Plays faults of the table on a host, and sees the condition of each one's alert come true. */
async function comesTrue(t: Test, fault: string) {
  const row = FAULTS.find((one) => one.fault === fault)
  if (!row) throw new Error(`the table has no fault: ${fault}`)
  played.add(fault)
  t.ok(await prometheus.becomesTrue(expressionOf(row.alert)), `${fault}: ${row.alert}`)
}

/** A new one for each test: what it scraped of other hosts stays true for minutes. */
async function observe(t: Test) {
  const started = await startPrometheus()
  t.teardown(() => started.remove())
  prometheus = started
}

async function isQuiet(t: Test, ...names: string[]) {
  for (const name of names) t.equal(await prometheus.isTrue(expressionOf(name)), false, `before: ${name}`)
}

t.test(
  'faults that are played',
  { skip: IS_THOROUGH ? WITHOUT_PROMETHEUS : 'it takes a minute: npm run alerts' },
  async (t) => {
    await t.test('of the database', async (t) => {
      await observe(t)
      const postgres = await startPostgres()
      t.teardown(() => postgres.remove())
      const database = await createDatabase('postgres', { serverUrl: postgres.url })
      const file = { rate_limits: { refusals: 0 } }
      const installation = await Installation.start({ database, file })
      t.teardown(() => installation.stop())
      const client = await installation.client('acme')
      await client.submit()
      await prometheus.scrape(installation.url, 'slowly')
      await isQuiet(t, 'ClaimcheckNotReady', 'ClaimcheckDatabaseErrors', 'ClaimcheckReadingsFail')

      const other = new pg.Client(installation.config.databaseUrl)
      await other.connect()
      await other.query('BEGIN')
      await other.query('SELECT log_id FROM logs FOR UPDATE')
      const submitted = client.submit()
      await comesTrue(t, "another program holds the log's row")
      await other.query('ROLLBACK')
      await submitted
      await other.query('BEGIN')
      await other.query('LOCK TABLE claims IN ACCESS EXCLUSIVE MODE')
      let isOver = false
      // Answers of 503 come meanwhile: others ask at other times.
      const reads = Array.from({ length: 40 }, async (_, number) => {
        await setTimeout(number * 100)
        while (!isOver) await client.get('/v1/claims')
      })
      await setTimeout(POOL_WAIT_MS)
      await comesTrue(t, 'all connections are in use')
      isOver = true
      await other.query('ROLLBACK')
      await other.end()
      await Promise.all(reads)

      const name = new URL(installation.config.databaseUrl).pathname.slice(1)
      const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`
      await prometheus.scrape(installation.url)
      await query(postgres.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
      await query(postgres.url, terminate)
      await client.submit()
      await comesTrue(t, 'it is read-only, or a standby is at its address')
      await query(postgres.url, `ALTER DATABASE ${name} SET default_transaction_read_only = off`)
      await postgres.stop()
      await client.submit()
      await comesTrue(t, 'it is stopped, or the network is cut')
      await comesTrue(t, 'claims cannot be stored')
      await comesTrue(t, 'metrics are old')
      await postgres.start()
      const url = new URL(postgres.url)
      await query(url.href, `ALTER ROLE ${url.username} PASSWORD 'another'`)
      url.password = 'another'
      await query(url.href, terminate)
      t.ok(await prometheus.becomesTrue('increase(claimcheck_database_errors_total{code="28P01"}[1m]) > 0'))
      await comesTrue(t, 'it refuses the password or the certificate')
    })

    await t.test('of a disk', { skip: CANNOT_MOUNT }, async (t) => {
      await observe(t)
      const { path: disk, unmount } = mountSmallDisk('16m')
      t.teardown(unmount)
      const installation = await install(t, { env: { DATA_DIR: disk } })
      const client = await installation.client('acme')
      await client.submit()
      await prometheus.scrape(installation.url)
      await isQuiet(t, 'ClaimcheckDiskFull')
      fill(join(disk, 'filler'))
      for (let times = 0; times < 30; times++)
        await client.submit({ params: { see: 'present', content: 'x'.repeat(4000) } })
      await comesTrue(t, 'its disk is full')
      await isQuiet(t, 'ClaimcheckDatabaseDamaged')
    })

    await t.test('of the log', async (t) => {
      await observe(t)
      const installation = await install(t)
      const client = await installation.client('acme')
      await client.submit()
      const restore = await backUpStopped(installation)
      await client.submit()
      await installation.stop()
      await restore()
      await installation.resume()
      await prometheus.scrape(installation.url)
      await comesTrue(t, 'an old database was restored')
      await observe(t)
      const clean = await install(t)
      await (await clean.client('acme')).submit()
      await prometheus.scrape(clean.url)
      await isQuiet(t, 'ClaimcheckHostReadOnly', 'ClaimcheckLogContradicted')
      await clean.stop()
      writeFileSync(join(clean.config.dataDir, 'log-head.json'), 'no head')
      await clean.resume()
      await prometheus.scrape(clean.url)
      await comesTrue(t, 'the memory of the last head cannot be read')
    })

    await t.test('of the clock, and of time that passes', async (t) => {
      await observe(t)
      let passedMs = 0
      let setMs = 0
      const now = () => Date.now() + passedMs
      const installation = await install(t, {
        now,
        wall: () => now() + setMs,
        env: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@example.com' },
      })
      const client = await installation.client('acme')
      await client.submit({ params: { see: 'absent', later: { at: Date.now() + 10 * MINUTE_MS, see: 'present' } } })
      await prometheus.scrape(installation.url)
      await isQuiet(t, 'ClaimcheckClockDoubted', 'ClaimcheckClaimsLate', 'ClaimcheckMailStuck', 'ClaimcheckMailFails')
      const { outbox, storage } = installation.claimcheck
      const mail = { kind: 'test', recipient: 'ann@example.com', message: { subject: 'test', text: 'test' } }
      await storage.write((tx) => outbox.add(tx, [mail]))
      await comesTrue(t, 'the mail server is away')
      setMs = 60 * MINUTE_MS
      await comesTrue(t, 'the clock is wrong')
      passedMs = 20 * MINUTE_MS
      await comesTrue(t, 'checks that decide are late')
      await comesTrue(t, 'mails wait')
      passedMs = 120 * MINUTE_MS
      await comesTrue(t, 'claims are not decided at all')
    })

    await t.test('of destinations', async (t) => {
      await observe(t)
      const installation = await install(t, { file: { checks: { timeout_ms: 300 } } })
      const client = await installation.client('acme')
      await prometheus.scrape(installation.url)
      await isQuiet(t, 'ClaimcheckDestinationHangs', 'ClaimcheckChecksFail')
      const hang = (number: number) => client.submit({ target: `place ${number}`, params: { see: 'hang' } })
      await Promise.all(Array.from({ length: 8 }, (_, number) => hang(number)))
      await comesTrue(t, 'a destination hangs')
      await hang(9)
      await comesTrue(t, 'a destination fails')
    })

    await t.test('of clients', async (t) => {
      await observe(t)
      const quotas = { claims_per_minute: 1, waiting_claims: 0 }
      const limited = await install(t, { file: { rate_limits: { key: 1 } } })
      const withQuota = await install(t, { file: { quotas } })
      for (const [fault, installation] of [
        ['a client is over its limit', limited],
        ['a workspace is over its quota', withQuota],
      ] as const) {
        const client = await installation.client('acme')
        await prometheus.scrape(installation.url)
        const scoped = (expression: string) =>
          expression.replaceAll('_total[', `_total{instance="${new URL(installation.url).host}"}[`)
        t.equal(await prometheus.isTrue(scoped(expressionOf('ClaimcheckManyRefusals'))), false)
        for (let times = 0; times < 320; times += 20)
          await Promise.all(Array.from({ length: 20 }, () => client.submit()))
        t.ok(await prometheus.becomesTrue(scoped(expressionOf('ClaimcheckManyRefusals'))), fault)
        await comesTrue(t, fault)
      }
    })

    await t.test('of a host', async (t) => {
      await observe(t)
      const installation = await install(t, { isNew: true, env: { PORT: String(await freePort()) } })
      await prometheus.scrape(installation.url)
      await isQuiet(t, 'ClaimcheckDown', 'ClaimcheckRestarts')
      const host = new URL(installation.url).host
      await installation.stop()
      await comesTrue(t, 'a host is down')
      for (let times = 0; times < 6; times++) {
        await installation.resume()
        await prometheus.becomesTrue(`up{instance="${host}"} == 1`)
        if (times < 5) await installation.stop()
      }
      await comesTrue(t, 'a host ends again and again')
    })

    const yes = FAULTS.filter(({ isPlayed }) => isPlayed).map(({ fault }) => fault)
    const left = CANNOT_MOUNT ? ['its disk is full'] : []
    t.strictSame(
      yes.filter((fault) => !played.has(fault)),
      left,
      'all that the table says are played',
    )
    t.strictSame(
      [...played].filter((fault) => !yes.includes(fault)),
      [],
    )
  },
)
