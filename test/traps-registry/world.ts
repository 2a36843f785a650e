/** What the traps of registries are set in: a service, Verdaccios, an nginx with a sparse index, and stand-ins for npm and PyPI. One clock. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { NpmStandIn } from '../destinations/npm-public.ts'
import { PypiStandIn } from '../destinations/pypi.ts'
import { findNginx, SparseIndex } from '../destinations/sparse-index.ts'
import { Verdaccio } from '../destinations/verdaccio.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { SETTINGS } from '../traps/settings.ts'
import type { Play, Trap } from '../traps/trap.ts'

const REGISTRY = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-registry')
const TOLERANCE_MS = 10 * 60_000
export const MINUTE_MS = 60_000
export const DAY_MS = 24 * 60 * MINUTE_MS

/** When a claim says that it came about, and until when it can be decided. */
export interface Times {
  readonly claimed_at: string
  readonly deadline_at?: string
}

interface Parts {
  readonly clock: SkippingClock
  readonly service: Installation
  readonly npm: NpmStandIn
  readonly pypi: PypiStandIn
  readonly verdaccio: Verdaccio
  readonly proxying: Verdaccio
  /** Undefined where the machine has no nginx. */
  readonly crates: SparseIndex | undefined
  readonly clients: Readonly<Record<ClientName, Client>>
  readonly token: string
}

/**
 * Without a connection; with one to Verdaccio, without and with a token, or as one that sees all packages; to a Verdaccio that shows what the
 * other one has; to the crates' index as to any index of somebody's.
 */
type ClientName = 'anonymous' | 'atVerdaccio' | 'reader' | 'seesAll' | 'atProxying' | 'atCrates' | 'seesAllCrates'

export class World {
  readonly clock: SkippingClock
  readonly service: Installation
  readonly npm: NpmStandIn
  readonly pypi: PypiStandIn
  readonly verdaccio: Verdaccio
  readonly proxying: Verdaccio
  readonly clients: Readonly<Record<ClientName, Client>>
  readonly token: string
  readonly #crates: SparseIndex | undefined
  readonly #stopSkipping: () => Promise<void>
  #packages = 0

  private constructor({ crates, ...parts }: Parts) {
    this.clock = parts.clock
    this.service = parts.service
    this.npm = parts.npm
    this.pypi = parts.pypi
    this.verdaccio = parts.verdaccio
    this.proxying = parts.proxying
    this.clients = parts.clients
    this.token = parts.token
    this.#crates = crates
    this.#stopSkipping = parts.clock.skip(parts.service.claimcheck)
  }

  static async start(): Promise<World> {
    const clock = new SkippingClock()
    const { now } = clock
    const nginx = findNginx()
    const verdaccio = await Verdaccio.start({ now })
    const [npm, pypi, proxying, crates] = await Promise.all([
      NpmStandIn.start(now),
      PypiStandIn.start(now),
      Verdaccio.start({ now, uplink: verdaccio.url }),
      nginx === undefined ? undefined : SparseIndex.start(nginx, now),
    ])
    const token = await verdaccio.addUser('reader')
    const urls = [npm.url, pypi.url, verdaccio.url, proxying.url, ...(crates ? [crates.url] : [])]
    const service = await Installation.start({
      plugins: [
        {
          use: REGISTRY,
          with: {
            public_npm_url: npm.url,
            public_pypi_url: pypi.url,
            ...(crates && { public_cargo_url: crates.url }),
          },
        },
      ],
      env: { ALLOW_PRIVATE: [...urls, ...urls.map(otherName)].map((url) => new URL(url).host).join() },
      file: {
        sources: { npm: [npm.url], pypi: [pypi.url] },
        ...SETTINGS,
      },
      now,
    })
    const client = async (name: ClientName, provider?: string, options: Record<string, string | boolean> = {}) => {
      const made = await service.client(name)
      if (provider !== undefined) await connect(service.claimcheck, made.workspaceId, provider, options)
      return made
    }
    const base_url = verdaccio.url
    const clients = {
      anonymous: await client('anonymous'),
      atVerdaccio: await client('atVerdaccio', 'npm', { base_url }),
      reader: await client('reader', 'npm', { base_url, token }),
      seesAll: await client('seesAll', 'npm', { base_url, token, sees_all_packages: true }),
      atProxying: await client('atProxying', 'npm', { base_url: proxying.url }),
      // Without an index there is nothing that it could connect.
      atCrates: await (crates ? client('atCrates', 'cargo', { base_url: otherName(crates.url) }) : client('atCrates')),
      seesAllCrates: await (crates
        ? client('seesAllCrates', 'cargo', { base_url: otherName(crates.url), sees_all_packages: true })
        : client('seesAllCrates')),
    }
    return new World({ clock, service, npm, pypi, verdaccio, proxying, crates, clients, token })
  }

  /** Only for traps that are played where there is an nginx. */
  get crates(): SparseIndex {
    return this.#crates!
  }

  get hasCrates(): boolean {
    return this.#crates !== undefined
  }

  nextName(): string {
    return `package-${++this.#packages}`
  }

  /** Claimed just now, so that the first read is prompt. */
  now(deadlineMs = MINUTE_MS): Times {
    return this.times(TOLERANCE_MS, deadlineMs)
  }

  /** For where each check fails: there is time for few of them. */
  soonest(): Times {
    return this.times(500, 500)
  }

  /** The tolerance ends in `toleranceEndsInMs`, the deadline is `deadlineMs` after that. */
  times(toleranceEndsInMs: number, deadlineMs: number): Times {
    const claimedAt = this.clock.now() + toleranceEndsInMs - TOLERANCE_MS
    return {
      claimed_at: new Date(claimedAt).toISOString(),
      deadline_at: new Date(claimedAt + TOLERANCE_MS + deadlineMs).toISOString(),
    }
  }

  async close(): Promise<void> {
    await this.#stopSkipping()
    await this.service.remove()
    await Promise.all([this.npm, this.pypi, this.verdaccio, this.proxying, this.#crates].map((place) => place?.close()))
  }
}

/** The same place by an address that is not the public one. */
function otherName(url: string): string {
  return url.replace('127.0.0.1', 'localhost')
}

interface Scene {
  readonly world: World
  /** Of a package that no other trap has. */
  readonly name: string
}

export interface Row extends Omit<Trap, 'play'> {
  readonly client: ClientName
  readonly version?: string
  readonly set: (scene: Scene) => Promise<Partial<Play> | undefined> | Partial<Play> | undefined
}

/** A row whose claim is about version 1.0.0 of the scene's package, made just now, unless `set` says otherwise. */
export function registryTrap(kind: 'npm' | 'pypi' | 'cargo') {
  return ({ set, client, version = '1.0.0', name, ...row }: Row): Trap<World> => ({
    ...row,
    name: `${kind}: ${name}`,
    async play(world) {
      const name = world.nextName()
      const { params, ...rest } = (await set({ world, name })) ?? {}
      return {
        client: world.clients[client],
        action: 'registry.package.publish',
        target: `${kind}:${name}`,
        params: { version, ...params },
        ...(rest.claimed_at === undefined ? world.now() : {}),
        ...rest,
      } as Play
    },
  })
}
