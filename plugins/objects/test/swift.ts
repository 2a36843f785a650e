/** A real OpenStack Swift with its S3 interface, of Debian's packages: one replica, and one server of each kind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../../test/support/free-port.ts'
import { sendSigned } from './signature.ts'

export const PROGRAMS = ['account', 'container', 'object', 'proxy'].map((kind) => `swift-${kind}-server`)
export const REGION = 'us-east-1'
/** The keys of a user who may do everything, of one to whom buckets are opened one by one, and of one of another account. */
export const KEYS = {
  admin: ['acme:admin', 'a-secret-that-writes'],
  reader: ['acme:reader', 'a-secret-that-reads'],
  stranger: ['other:admin', 'a-secret-of-others'],
} as const

const STORAGE = ['account', 'container', 'object'] as const
const FILTERS =
  'catch_errors gatekeeper memcache listing_formats s3api tempauth copy slo versioned_writes symlink'.split(' ')
/** Debian starts Swift by Python, which takes seconds on a busy machine. */
const START_MS = 60_000

/** Makes the rings: where each kind of server is. `swift-ring-builder` does that in nine runs of Python. */
const RINGS = `
import sys
from swift.common.ring import RingBuilder
for kind, port in (arg.split(':') for arg in sys.argv[2:]):
    builder = RingBuilder(4, 1, 1)
    builder.add_dev({'id': 0, 'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port), 'device': 'd1', 'weight': 1})
    builder.rebalance()
    builder.get_ring().save(f'{sys.argv[1]}/{kind}.ring.gz')
`

const section = (name: string, values: object) =>
  [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${value}`), ''].join('\n')

export class Swift {
  readonly url: string
  readonly #folder: string
  readonly #servers: readonly ChildProcess[]

  private constructor(url: string, folder: string, servers: readonly ChildProcess[]) {
    this.url = url
    this.#folder = folder
    this.#servers = servers
  }

  static async start(): Promise<Swift> {
    const folder = await mkdtemp(join(tmpdir(), 'swift-'))
    mkdirSync(join(folder, 'node/d1'), { recursive: true })
    writeFileSync(
      join(folder, 'swift.conf'),
      section('swift-hash', { swift_hash_path_suffix: 'test' }) +
        section('storage-policy:0', { name: 'only', default: 'yes' }),
    )
    const common = { bind_ip: '127.0.0.1', swift_dir: folder, workers: 0, user: userInfo().username }
    const ports: number[] = []
    for (const kind of STORAGE) {
      const port = await freePort()
      const settings = { ...common, bind_port: port, devices: join(folder, 'node'), mount_check: false }
      const pipeline = { pipeline: `${kind}-server` }
      const text = [
        section('DEFAULT', settings),
        section('pipeline:main', pipeline),
        section(`app:${kind}-server`, { use: `egg:swift#${kind}` }),
      ]
      writeFileSync(join(folder, `${kind}.conf`), text.join('\n'))
      ports.push(port)
    }
    execFileSync('/usr/bin/python3', ['-c', RINGS, folder, ...STORAGE.map((kind, index) => `${kind}:${ports[index]}`)])
    const port = await freePort()
    const users = Object.entries({ [KEYS.admin[0]]: '.admin', [KEYS.reader[0]]: '', [KEYS.stranger[0]]: '.admin' })
    const secrets = new Map<string, string>(Object.values(KEYS))
    const more: Readonly<Record<string, object>> = {
      s3api: { location: REGION },
      tempauth: Object.fromEntries(
        users.map(([id, groups]) => [`user_${id.replace(':', '_')}`, `${secrets.get(id)} ${groups}`]),
      ),
      versioned_writes: { allow_object_versioning: true },
    }
    const proxy = [
      section('DEFAULT', { ...common, bind_port: port }),
      section('pipeline:main', { pipeline: [...FILTERS, 'proxy-server'].join(' ') }),
      section('app:proxy-server', { use: 'egg:swift#proxy', account_autocreate: true }),
      ...FILTERS.map((name) => section(`filter:${name}`, { use: `egg:swift#${name}`, ...more[name] })),
    ]
    writeFileSync(join(folder, 'proxy.conf'), proxy.join('\n'))
    const output = openSync(join(folder, 'output'), 'w')
    const servers = [...STORAGE, 'proxy'].map((kind) =>
      spawn(`swift-${kind}-server`, [join(folder, `${kind}.conf`)], { stdio: ['ignore', output, output] }),
    )
    closeSync(output)
    const swift = new Swift(`http://127.0.0.1:${port}`, folder, servers)
    for (const until = Date.now() + START_MS; ; await setTimeout(100)) {
      const answer = await swift.send('GET', '/').catch(() => undefined)
      if (answer?.ok) return swift
      if (Date.now() < until && servers.every(({ exitCode }) => exitCode === null)) continue
      const told = readFileSync(join(folder, 'output'), 'utf8')
      await swift.close()
      throw new Error(`Swift does not answer: ${told.slice(-2000)}`)
    }
  }

  /** Sends a request as the user who may do everything. @param path as it is sent, with its query */
  send(method: string, path: string, body = '', headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return sendSigned(KEYS.admin, REGION, method, this.url + path, { body, headers })
  }

  /** Sends a request that has to succeed. @throws Error for a refusal */
  async done(...request: Parameters<Swift['send']>): Promise<Response> {
    const response = await this.send(...request)
    if (!response.ok) throw new Error(`${request[0]} ${request[1]}: ${response.status} ${await response.text()}`)
    return response
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      const ended = server.exitCode ?? once(server, 'exit')
      server.kill('SIGKILL')
      await ended
    }
    await rm(this.#folder, { recursive: true, force: true })
  }
}
