/**
 * A flood: one workspace submits many claims at destinations that hang, with several keys and connections, while another one submits as
 * it always does. Everything is real: hosts in processes of their own, HTTP servers that accept and never answer.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { HostProcess } from '../crash/host-process.ts'
import { connect } from '../support/connect.ts'
import { createDatabase, type Dialect } from '../support/database.ts'
import { NO_LIMITS, NO_QUOTAS } from '../support/installation.ts'

export interface FloodOptions {
  readonly dialect: Dialect
  readonly hosts: number
  /** How many claims the flood has. */
  readonly claims: number
  /** How many claims the other workspace submits, alone and during the flood. */
  readonly honestClaims: number
  /** The members of the configuration's `checks` that differ from the defaults. */
  readonly checks?: object
  /** The deadline of claims that are not true, after they are submitted. */
  readonly deadlineMs: number
}

export interface FloodFigures {
  /** From POST to decided, of the other workspace. */
  readonly aloneMs: Percentiles
  readonly floodedMs: Percentiles
  /** By how much the latest closing read came late: of the other workspace, and of anybody. */
  readonly honestLatenessMs: number
  readonly anyLatenessMs: number
  /** Answers to the flood, by status. */
  readonly answers: Readonly<Record<string, number>>
  /** How many checks were refused a slot. */
  readonly refused: number
}

interface Percentiles {
  readonly p50: number
  readonly p99: number
}

const KEYS = 4
const HANGING = 9
const ACTION = 'test.page.publish'
const TOLERANCE_MS = 10 * 60_000
/** Requests of the flood that are under way at a time. */
const AT_A_TIME = 64
const HONEST_AT_A_TIME = 2
const WAITING = 20

/** A page is there when its name says so. */
async function listen(address: string, answers: boolean): Promise<Server> {
  const server = createServer((request, response) => {
    if (answers) response.writeHead(request.url!.startsWith('/missing') ? 404 : 200).end()
  })
  await new Promise<void>((done) => server.listen(0, address, done))
  return server
}

const urlOf = (server: Server) => {
  const { address, port } = server.address() as AddressInfo
  return `http://${address}:${port}`
}

export async function runFlood(options: FloodOptions): Promise<FloodFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-flood-'))
  const database = await createDatabase(options.dialect)
  // Addresses of their own, as the servers of strangers have.
  const hanging = await Promise.all(
    Array.from({ length: HANGING }, (_, index) => listen(`127.0.1.${index + 1}`, false)),
  )
  const healthy = await listen('127.0.2.1', true)
  const places = [...hanging, healthy].map(urlOf)
  const env = {
    PORT: '0',
    LOG_LEVEL: 'silent',
    ALLOW_PRIVATE: places.map((url) => new URL(url).host).join(),
    ...database.env,
  }
  const file = {
    plugins: [{ use: resolve('build/test/plugins/reading.js'), trusted: true }],
    rate_limits: NO_LIMITS,
    quotas: NO_QUOTAS,
    checks: options.checks ?? {},
  }
  await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(file))
  const hosts = Array.from({ length: options.hosts }, (_, index) => {
    const dataDir = options.dialect === 'sqlite' ? 'data' : `data-${index}`
    return new HostProcess(folder, { ...env, DATA_DIR: dataDir })
  })
  try {
    const [flooding, honest] = await createWorkspaces(folder, env, hanging.map(urlOf), urlOf(healthy))
    await Promise.all(hosts.map((host) => host.start()))
    return await new Flood(
      hosts.map(({ url }) => url!),
      flooding!,
      honest!,
      options,
    ).run()
  } finally {
    await Promise.all(hosts.map((host) => host.kill()))
    for (const server of [...hanging, healthy]) {
      server.closeAllConnections()
      server.close()
    }
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Workspace {
  readonly keys: readonly string[]
  /** The names of its connections. */
  readonly places: readonly string[]
}

async function createWorkspaces(
  folder: string,
  env: Readonly<Record<string, string>>,
  hanging: readonly string[],
  healthy: string,
): Promise<Workspace[]> {
  const claimcheck = await openClaimcheck(loadConfig(env, folder), { plugins: true })
  try {
    const made: Workspace[] = []
    for (const [name, urls, keyCount] of [
      ['flooding', hanging, KEYS],
      ['honest', [healthy], 1],
    ] as const) {
      const { id } = await claimcheck.workspaces.create(name)
      const keys: string[] = []
      for (let key = 0; key < keyCount; key++) keys.push((await claimcheck.keys.create(id, `key ${key}`)).key)
      const places = urls.map((_, index) => `${name}-${index}`)
      for (const [index, base_url] of urls.entries()) {
        await connect(claimcheck, id, 'pages', { base_url, name: places[index]! })
      }
      made.push({ keys, places })
    }
    return made
  } finally {
    await claimcheck.close()
  }
}

class Flood {
  readonly #hosts: readonly string[]
  readonly #flooding: Workspace
  readonly #honest: Workspace
  readonly #options: FloodOptions
  #claims = 0

  constructor(hosts: readonly string[], flooding: Workspace, honest: Workspace, options: FloodOptions) {
    this.#hosts = hosts
    this.#flooding = flooding
    this.#honest = honest
    this.#options = options
  }

  async run(): Promise<FloodFigures> {
    const { claims, honestClaims, deadlineMs } = this.#options
    await this.#decideMany(honestClaims / 4)
    const aloneMs = await this.#decideMany(honestClaims)
    const answers: Record<string, number> = {}
    const flood = together(claims, AT_A_TIME, async (index) => {
      const { keys, places } = this.#flooding
      const { status } = await this.#submit(keys[index % KEYS]!, places[index % HANGING]!, 'page', this.#soon())
      answers[status] = (answers[status] ?? 0) + 1
    })
    // It has taken all that it can take.
    await setTimeout(2000)
    const waiting = await this.#submitWaiting()
    const floodedMs = await this.#decideMany(honestClaims)
    await flood
    const honestLatenessMs = await this.#closingLateness(waiting)
    await setTimeout(deadlineMs)
    const metrics = await Promise.all(this.#hosts.map(async (url) => (await fetch(`${url}/metrics`)).text()))
    const largest = (name: RegExp) => Math.max(...metrics.map((text) => Number(name.exec(text)![1])))
    return {
      aloneMs,
      floodedMs,
      honestLatenessMs,
      anyLatenessMs: 1000 * largest(/lateness_seconds\{of="largest"\} (\S+)/),
      answers,
      refused: largest(/checks_refused_total\{kind="(?:first|looking)"\} (\S+)/),
    }
  }

  /** The tolerance is over at the deadline less a second. */
  #soon() {
    const deadline = Date.now() + this.#options.deadlineMs
    return {
      claimed_at: new Date(deadline - 1000 - TOLERANCE_MS).toISOString(),
      deadline_at: new Date(deadline).toISOString(),
    }
  }

  async #submit(key: string, at: string, target: string, times: object) {
    const number = ++this.#claims
    const body = { client_claim_id: `claim-${number}`, agent_id: 'a', action: ACTION, target, params: { at }, ...times }
    const response = await fetch(`${this.#hosts[number % this.#hosts.length]}/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, claim: JSON.parse(await response.text()) }
  }

  /** How long true claims take from POST to decided. */
  async #decideMany(count: number): Promise<Percentiles> {
    const took: number[] = []
    await together(count, HONEST_AT_A_TIME, async () => {
      const startedAt = performance.now()
      const times = { claimed_at: new Date().toISOString() }
      const { claim } = await this.#submit(this.#honest.keys[0]!, this.#honest.places[0]!, 'page', times)
      if ((await this.#decided(claim)).verdict !== 'verified') throw new Error('a true claim was not verified')
      took.push(performance.now() - startedAt)
    })
    took.sort((one, other) => one - other)
    const percentile = (share: number) => took[Math.floor(share * (took.length - 1))]!
    return { p50: percentile(0.5), p99: percentile(0.99) }
  }

  async #decided(claim: { claim_id: string; state: string; verdict?: string; receipt_id?: string }) {
    for (let current = claim; ; await setTimeout(10)) {
      if (current.state === 'decided') return current
      const headers = { authorization: `Bearer ${this.#honest.keys[0]}` }
      current = await (await fetch(`${this.#hosts[0]}/v1/claims/${claim.claim_id}`, { headers })).json()
    }
  }

  /** Claims that are not true, whose deadlines come during the flood. */
  async #submitWaiting() {
    const [key, place] = [this.#honest.keys[0]!, this.#honest.places[0]!]
    return Promise.all(
      Array.from({ length: WAITING }, async () => (await this.#submit(key, place, 'missing', this.#soon())).claim),
    )
  }

  /** By the evidence of their receipts. */
  async #closingLateness(
    claims: readonly { claim_id: string; state: string; deadline_at?: string }[],
  ): Promise<number> {
    const late = claims.map(async (claim) => {
      const { receipt_id, verdict } = await this.#decided(claim)
      if (verdict !== 'failed') throw new Error(`a claim that is not true was ${verdict}`)
      const { claim: claimed, checks } = await (
        await fetch(`${this.#hosts[0]}/v1/receipts/${receipt_id}/evidence`)
      ).json()
      const deadline = Date.parse(claimed.deadline_at)
      const closing = checks.map((check: { sent_at: string }) => Date.parse(check.sent_at))
      return Math.min(...closing.filter((sentAt: number) => sentAt >= deadline)) - deadline
    })
    return Math.max(...(await Promise.all(late)))
  }
}

/** Does something so many times, so many at a time. */
async function together(count: number, atATime: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const one = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atATime }, one))
}
