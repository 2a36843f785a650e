/** A stand-in for the sparse index of crates.io, line by line: also lines that no registry should write, and some do. */
import { createHash } from 'node:crypto'
import { RegistryStandIn, type StandIn, startStandIn } from './stand-in.ts'

export interface CrateLine {
  readonly at?: number
  /** crates.io writes the time since late 2025; others do not. */
  readonly isTimed?: boolean
  readonly yanked?: boolean | null
  readonly v?: number
}

export class CratesStandIn extends RegistryStandIn {
  /** By the name under which it was first published. */
  readonly #lines: Map<string, string[]>

  private constructor(server: StandIn, now: () => number, lines: Map<string, string[]>) {
    super(server, now)
    this.#lines = lines
  }

  static async start(now: () => number): Promise<CratesStandIn> {
    const lines = new Map<string, string[]>()
    const files = () => new Map([...lines].map(([name, own]) => [`/${pathOf(name.toLowerCase())}`, own]))
    const server = await startStandIn(now, ({ url = '' }) => {
      if (url === '/config.json') return { body: { dl: 'https://static.crates.io/crates', api: 'https://crates.io' } }
      const own = files().get(url)
      return own
        ? { body: Buffer.from(`${own.join('\n')}\n`), headers: { 'content-type': 'text/plain' } }
        : { status: 404 }
    })
    return new CratesStandIn(server, now, lines)
  }

  /** @returns the SHA-256 of the file in hexadecimal */
  publish(name: string, vers: string, { at = this.now(), isTimed = true, yanked = false, v }: CrateLine = {}): string {
    const cksum = createHash('sha256').update(`${name} ${vers}`).digest('hex')
    const pubtime = `${new Date(at).toISOString().slice(0, 19)}Z`
    const more = { ...(isTimed ? { pubtime } : {}), ...(v === undefined ? {} : { v }) }
    this.write(name, JSON.stringify({ name, vers, deps: [], cksum, features: {}, yanked, ...more }))
    return cksum
  }

  write(name: string, line: string): void {
    this.#lines.set(name, [...(this.#lines.get(name) ?? []), line])
  }
}

function pathOf(name: string): string {
  if (name.length < 3) return `${name.length}/${name}`
  if (name.length === 3) return `3/${name[0]}/${name}`
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
}
