/** Measures the cost of a process for each workspace and plugin: claims a second, starts and memory. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect } from '../../../test/support/connect.ts'
import { makePluginPackage } from '../../../test/support/plugin-package.ts'
import { claimsOf } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import { createWorkspace, withInstallation, withOpened } from '../installation.ts'
import { load } from '../load.ts'
import { type Served, withProcess } from '../process.ts'
import { median } from '../statistics.ts'

const DEEDS_FILE = 'build/server/test/plugins/isolation/deeds.js'
const WORKSPACES = [1, 10, 100] as const
const CONNECTIONS = 64
/** The claims at once while processes start: of more than start in ten seconds, some are refused. */
const FEW_CONNECTIONS = 8
const ROUND_MS = 4_000
const WARM_UP_MS = 1_500
/** The time to start the process of each workspace. */
const START_MS = 350
const ROUNDS = 2
/** The pause in which a process is started ahead. */
const PAUSE_MS = 1_500
const FIRST_CLAIMS = 5

interface Side {
  readonly served: Served
  readonly keys: readonly string[]
}

export async function measureCells(): Promise<Figure[]> {
  return withWorkspaces(true, (trusted) =>
    withWorkspaces(false, async (isolated) => {
      const figures = await measureFirstClaims(isolated)
      for (const count of WORKSPACES) figures.push(...(await compare(trusted, isolated, count)))
      return figures
    }),
  )
}

/** Measures in turn, there and back. */
async function compare(trusted: Side, isolated: Side, count: number): Promise<Figure[]> {
  const sides = [trusted, isolated]
  for (const side of sides) await decided(side, count, WARM_UP_MS + count * START_MS, FEW_CONNECTIONS)
  const sums = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0])
      sums[index]! += (await decided(sides[index]!, count, ROUND_MS)) / ROUNDS
  }
  const [ofTrusted, ofIsolated] = sums as [number, number]
  const name = `decided claims of ${count} ${count === 1 ? 'workspace' : 'workspaces'} through connections, isolated`
  return [
    figure(name, ofIsolated, '1/s'),
    figure(
      `${name}, ratio to a trusted plugin`,
      ofIsolated / ofTrusted,
      '',
      ...(count === 1 ? [{ atLeast: 0.5 }] : []),
    ),
    figure(`${name}: memory of its processes`, isolated.served.childrenBytes() / 1024 ** 2, 'MiB'),
  ]
}

/** Receipts a second: what is not decided within its request counts when it is. */
async function decided({ served, keys }: Side, count: number, durationMs: number, connections = CONNECTIONS) {
  const before = await treeSize(served)
  const { durationMs: tookMs } = await load({ ...claims(served, keys.slice(0, count)), connections, durationMs })
  return (1000 * ((await treeSize(served)) - before)) / tookMs
}

async function treeSize({ url }: Served): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^claimcheck_log_tree_size (\d+)$/m.exec(text)![1])
}

/** Sends claims of workspaces without a process: one after another, and then several at once. */
async function measureFirstClaims({ served, keys }: Side): Promise<Figure[]> {
  const first = async (key: string) => {
    const { latenciesMs } = await load({ ...claims(served, [key]), connections: 1, durationMs: 0 })
    return latenciesMs[0]!
  }
  const ahead: number[] = []
  for (const key of keys.slice(0, FIRST_CLAIMS)) {
    await setTimeout(PAUSE_MS)
    ahead.push(await first(key))
  }
  await setTimeout(PAUSE_MS)
  const atOnce = await Promise.all(keys.slice(FIRST_CLAIMS, 2 * FIRST_CLAIMS).map(first))
  return [
    figure('first claim of a workspace, in the process started ahead: p50', median(ahead), 'ms'),
    figure(
      `first claims of ${FIRST_CLAIMS} workspaces at once, which wait for starts: the last`,
      Math.max(...atOnce),
      'ms',
    ),
  ]
}

/** Sends claims of the workspaces in turn. */
function claims({ url }: Served, keys: readonly string[]) {
  const each = keys.map((key) => claimsOf({ url, key }, 'test.deed.do', { deed: 'waits a while', at: '0' }))
  let next = 0
  return { ...each[0]!, request: () => each[next++ % each.length]!.request() }
}

/** A host with connections in all workspaces; they are made without processes. */
function withWorkspaces<T>(isTrusted: boolean, work: (side: Side) => Promise<T>): Promise<T> {
  return withInstallation({ plugins: [] }, async (installation) => {
    const use = makePluginPackage(installation.folder, DEEDS_FILE)
    configure(installation.folder, { use, trusted: true })
    const keys = await withOpened(installation, async (claimcheck) => {
      const made: string[] = []
      for (let count = 0; count < Math.max(...WORKSPACES); count++) {
        const { workspaceId, key } = await createWorkspace(claimcheck, `bench ${count}`)
        await connect(claimcheck, workspaceId, 'deeds', { base_url: 'https://deeds.example', token: 'a-token' })
        made.push(key)
      }
      return made
    })
    if (!isTrusted) configure(installation.folder, { use })
    return withProcess('host', installation, (served) => work({ served, keys }))
  })
}

function configure(folder: string, plugin: object): void {
  const path = join(folder, 'claimcheck.config.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), plugins: [plugin] }))
}
