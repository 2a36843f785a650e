/** A log of a million receipts: fetching any of them with its proof, deriving all of them again, and looking at their workspace. */
import { createReadStream } from 'node:fs'
import { sqliteFile } from '@claimcheck/server/config/database-url'
import { examine } from '../doctor.ts'
import { type Figure, figure } from '../figure.ts'
import { configOf, createWorkspace, type Installation, withInstallation, withOpened } from '../installation.ts'
import { getText, load } from '../load.ts'
import { type Served, withProcess } from '../process.ts'
import { seedReceipts } from '../seed/receipts.ts'
import { median, quantile } from '../statistics.ts'
import { bareFigures, inTurn } from '../turns.ts'
import { measureWorkspace } from './workspace.ts'

const RECEIPTS = 1_000_000
const CONNECTIONS = 32
const ROUNDS = 4
const ROUND_MS = 2_500
/** The time for which the first answers of a host take up to a third longer: a service runs for days. */
const WARM_UP_MS = 6_000
const BARE_WARM_UP_MS = 2_000
const IN_WORDS = 'at 1,000,000 leaves'

export async function measureReceipts(): Promise<Figure[]> {
  return withInstallation({}, async (installation) => {
    const { workspaceId, receiptIds } = await withOpened(installation, async (claimcheck) => {
      const { workspaceId } = await createWorkspace(claimcheck)
      return { workspaceId, receiptIds: await seedReceipts(claimcheck, workspaceId, RECEIPTS) }
    })
    await readWhole(installation)
    return [
      ...(await measureFetching(installation, receiptIds)),
      await measureDoctor(installation),
      ...(await measureWorkspace(installation, workspaceId)),
    ]
  })
}

/** Has the system hold the file in memory. While it is written, the system may take parts of it out again: the disk would be measured. */
async function readWhole(installation: Installation): Promise<void> {
  const file = createReadStream(sqliteFile(configOf(installation).databaseUrl)!, { highWaterMark: 2 ** 20 })
  for await (const _part of file);
}

async function measureFetching(installation: Installation, receiptIds: readonly string[]): Promise<Figure[]> {
  const anyPath = () => `/v1/receipts/${receiptIds[Math.floor(Math.random() * receiptIds.length)]}`
  const { bare, service } = await withProcess('host', installation, async (host) => {
    const answer = await (await fetch(host.url + anyPath())).text()
    return withProcess('baseline', { answerBytes: answer.length }, (baseline) => compare(host, baseline, anyPath))
  })
  return [
    ...bareFigures('bare Fastify GET of a text as long as a receipt', bare),
    { name: `GET receipt with proof ${IN_WORDS}`, value: service.perSecond, unit: '1/s' },
    figure(`GET receipt with proof ${IN_WORDS}: processor time of the host for one`, service.cpuMicros, 'µs'),
    figure(`GET receipt with proof ${IN_WORDS}, ratio to bare Fastify`, service.perSecond / bare.perSecond, '', {
      atLeast: 0.45,
    }),
    figure(`GET receipt with proof ${IN_WORDS}, ${CONNECTIONS} connections, p50`, median(service.latenciesMs), 'ms'),
    figure(
      `GET receipt with proof ${IN_WORDS}, ${CONNECTIONS} connections, p99`,
      quantile(service.latenciesMs, 0.99),
      'ms',
      { atMost: 10 },
    ),
  ]
}

function compare(host: Served, baseline: Served, anyPath: () => string) {
  const side = (served: Served, expected: string) => ({
    served,
    roundMs: ROUND_MS,
    load: (durationMs: number) => {
      const request = () => getText(served.url, anyPath())
      return load({ url: served.url, connections: CONNECTIONS, durationMs, expected, request })
    },
  })
  const sides = {
    bare: { ...side(baseline, '"state"'), warmUpMs: BARE_WARM_UP_MS },
    service: side(host, '"inclusion":['),
  }
  return inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
}

async function measureDoctor(installation: Installation): Promise<Figure> {
  await readWhole(installation)
  return figure(`doctor ${IN_WORDS}, leaves a second`, await examine(installation, RECEIPTS), '1/s', {
    atLeast: 20_000,
  })
}
