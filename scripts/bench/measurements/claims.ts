/** Claims that are submitted, checked at once, decided, signed, logged and durable when they are answered. */
import type { Dialect } from '../../../test/support/database.ts'
import { decidingSide } from '../claims.ts'
import { examine } from '../doctor.ts'
import { type Figure, figure } from '../figure.ts'
import { createWorkspace, withInstallation, withOpened } from '../installation.ts'
import { type Served, withProcess } from '../process.ts'
import { median, quantile } from '../statistics.ts'
import { bareFigures, inTurn } from '../turns.ts'

const CONNECTIONS = 64
const ROUNDS = 4
const ROUND_MS = 4_000
const BARE_ROUND_MS = 2_000
/** The time for which the compiler's own threads still work: a service runs for days. */
const WARM_UP_MS = 8_000
const BARE_WARM_UP_MS = 2_000
/** About as long as the service's answer. */
const ANSWER_BYTES = 700

const NAMES: Readonly<Record<Dialect, string>> = { sqlite: 'SQLite', postgres: 'Postgres' }
const LEAST_RATIO: Readonly<Record<Dialect, number>> = { sqlite: 0.25, postgres: 0.2 }
/** Measured with SQLite, which is in the host's process. With Postgres, most of the work of storing is not. */
const MOST_CPU_MICROS = 260

export async function measureClaims(dialect: Dialect): Promise<Figure[]> {
  return withInstallation({ dialect }, async (installation) => {
    const { key } = await withOpened(installation, createWorkspace)
    const { bare, decided } = await withProcess('baseline', { answerBytes: ANSWER_BYTES }, (baseline) =>
      withProcess('host', installation, (host) => compare(host, key, baseline)),
    )
    const leavesPerSecond = await examine(installation, decided.answers)
    const on = NAMES[dialect]
    return [
      ...bareFigures(`bare Fastify POST with the same validation, beside ${on}`, bare),
      { name: `decided claims over HTTP, ${on}`, value: decided.perSecond, unit: '1/s' },
      {
        name: `decided claims over HTTP, ${on}: processor time of the host for one`,
        value: decided.cpuMicros,
        unit: 'µs',
        ...(dialect === 'sqlite' ? { bar: { atMost: MOST_CPU_MICROS } } : {}),
      },
      figure(
        `decided claims over HTTP, ${on}: processor time, ratio to bare Fastify`,
        decided.cpuMicros / bare.cpuMicros,
        '',
      ),
      figure(`decided claims, ratio to bare Fastify, ${on}`, decided.perSecond / bare.perSecond, '', {
        atLeast: LEAST_RATIO[dialect],
      }),
      figure(`from POST to provable at ${CONNECTIONS} connections, p50, ${on}`, median(decided.latenciesMs), 'ms', {
        atMost: 20,
      }),
      figure(
        `from POST to provable at ${CONNECTIONS} connections, p99, ${on}`,
        quantile(decided.latenciesMs, 0.99),
        'ms',
        { atMost: 60 },
      ),
      figure(`doctor over these claims, with their evidence, leaves a second, ${on}`, leavesPerSecond, '1/s'),
    ]
  })
}

function compare(host: Served, key: string, baseline: Served) {
  const sides = {
    bare: {
      ...decidingSide(baseline, '', { connections: CONNECTIONS, roundMs: BARE_ROUND_MS }),
      warmUpMs: BARE_WARM_UP_MS,
    },
    decided: decidingSide(host, key, { connections: CONNECTIONS, roundMs: ROUND_MS }),
  }
  return inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
}
