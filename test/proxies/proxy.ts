/** Proxies as `server/deploy/proxies` configures them, with this machine's ports and certificates instead of those in the files. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Authority } from '../destinations/certificates.ts'
import { freePort } from '../support/free-port.ts'
import { findProgram } from '../support/programs.ts'

export const NAME = 'claimcheck.example.com'
const FOLDER = 'server/deploy/proxies'
const UPSTREAMS = ['10.0.0.11:8080', '10.0.0.12:8080'] as const
const START_MS = 20_000

export interface Proxy {
  readonly name: string
  /** Undefined where it is not installed. */
  readonly program: string | undefined
  /** Asks hosts whether they are ready, so that it never sends them what they cannot do. */
  readonly asksHealth: boolean
  prepare(place: Place): Promise<Prepared>
}

interface Place {
  readonly folder: string
  readonly http: number
  readonly https: number
  /** Fills the hosts in. */
  fill(text: string): string
}

interface Prepared {
  readonly args: readonly string[]
  /** The file with the certificate to trust. */
  readonly trusted: string
}

export const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    program: findProgram('nginx'),
    asksHealth: false,
    async prepare({ folder, http, https, fill }) {
      const { trusted, certificate, key } = await issue(folder)
      const site = replaceAll(fill(await readFile(join(FOLDER, 'nginx.conf'), 'utf8')), {
        'listen 80;': `listen 127.0.0.1:${http};`,
        'listen 443 ': `listen 127.0.0.1:${https} `,
        '/etc/ssl/claimcheck/fullchain.pem': certificate,
        '/etc/ssl/claimcheck/key.pem': key,
      })
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
      const main = `daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths} include ${folder}/site.conf; }`
      await writeFile(join(folder, 'site.conf'), site)
      await writeFile(join(folder, 'main.conf'), main)
      return { args: ['-c', join(folder, 'main.conf'), '-e', join(folder, 'error.log')], trusted }
    },
  },
  {
    name: 'Caddy',
    program: findProgram('caddy'),
    asksHealth: true,
    async prepare({ folder, http, https, fill }) {
      // Its own authority instead of a public one.
      const global = ['admin off', 'local_certs', 'skip_install_trust', 'default_bind 127.0.0.1']
      const ports = [`http_port ${http}`, `https_port ${https}`, `storage file_system ${folder}/storage`]
      const site = fill(await readFile(join(FOLDER, 'Caddyfile'), 'utf8'))
      const file = join(folder, 'Caddyfile')
      await writeFile(file, `{\n${[...global, ...ports].join('\n')}\n}\n${site}`)
      const trusted = join(folder, 'storage/pki/authorities/local/root.crt')
      return { args: ['run', '--config', file, '--adapter', 'caddyfile'], trusted }
    },
  },
  {
    name: 'HAProxy',
    program: findProgram('haproxy'),
    asksHealth: true,
    async prepare({ folder, http, https, fill }) {
      const { trusted, certificate, key } = await issue(folder)
      const both = join(folder, 'both.pem')
      await writeFile(both, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')))
      const file = join(folder, 'haproxy.cfg')
      const configuration = replaceAll(fill(await readFile(join(FOLDER, 'haproxy.cfg'), 'utf8')), {
        'bind :80': `bind 127.0.0.1:${http}`,
        'bind :443': `bind 127.0.0.1:${https}`,
        '/etc/haproxy/claimcheck.pem': both,
      })
      await writeFile(file, configuration)
      return { args: ['-f', file], trusted }
    },
  },
]

async function issue(folder: string) {
  const authority = new Authority()
  const { cert, key } = authority.issue([NAME])
  const [trusted, certificate, keyFile] = ['ca.pem', 'fullchain.pem', 'key.pem'].map((file) => join(folder, file))
  await writeFile(trusted!, authority.cert)
  await writeFile(certificate!, cert)
  await writeFile(keyFile!, key)
  authority.remove()
  return { trusted: trusted!, certificate: certificate!, key: keyFile! }
}

/** @throws Error for a text that is not there: the file has changed */
function replaceAll(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the configuration has no ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Of the client: one of this machine's loopback addresses. */
  readonly from?: string
  /** Returns with the first bytes, and hangs up. */
  readonly isStream?: boolean
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export class RunningProxy {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #ports: Pick<Place, 'http' | 'https'>
  readonly #ca: string

  private constructor(child: ChildProcess, folder: string, ports: Pick<Place, 'http' | 'https'>, ca: string) {
    this.#child = child
    this.#folder = folder
    this.#ports = ports
    this.#ca = ca
  }

  /** @param hosts `host:port` of both @throws Error when it ends at once */
  static async start({ program, prepare }: Proxy, hosts: readonly [string, string]): Promise<RunningProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'claimcheck-proxy-'))
    // Under root, nginx works as another user.
    await chmod(folder, 0o777)
    await mkdir(join(folder, 'home'))
    const ports = { http: await freePort(), https: await freePort() }
    const fill = (text: string) => replaceAll(text, { [UPSTREAMS[0]]: hosts[0], [UPSTREAMS[1]]: hosts[1] })
    const { args, trusted } = await prepare({ folder, ...ports, fill })
    const env = { PATH: process.env.PATH, HOME: join(folder, 'home') }
    const child = spawn(program!, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    for (const end = Date.now() + START_MS; ; await setTimeout(50)) {
      if (child.exitCode !== null || Date.now() > end) throw new Error(`${program} does not listen: ${said}`)
      const ca = await readFile(trusted, 'utf8').catch(() => '')
      const proxy = new RunningProxy(child, folder, ports, ca)
      if (ca && (await proxy.ask('/healthz').catch(() => undefined))) return proxy
    }
  }

  ask(path: string, asked: Asked = {}): Promise<Answered> {
    const { method = 'GET', headers = {}, body, from = '127.0.0.1', isStream = false } = asked
    const options = { host: '127.0.0.1', path, method, localAddress: from, agent: false as const }
    const all = { host: NAME, ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) }
    return new Promise((resolve, reject) => {
      const sent = request({ ...options, headers: all, port: this.#ports.https, servername: NAME, ca: this.#ca })
      sent.on('error', reject)
      sent.on('response', (response) => {
        let text = ''
        const end = () => resolve({ status: response.statusCode!, headers: response.headers, text })
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
          if (!isStream) return
          end()
          sent.destroy()
        })
        response.on('end', end)
      })
      sent.end(body)
    })
  }

  /** An answer that goes on: what comes, and its end, whichever side ends it. */
  stream(path: string, headers: Readonly<Record<string, string>>, take: (text: string) => void) {
    const options = { host: '127.0.0.1', path, agent: false as const, headers: { host: NAME, ...headers } }
    const sent = request({ ...options, port: this.#ports.https, servername: NAME, ca: this.#ca })
    const ended = new Promise<void>((resolve) => {
      sent.on('error', () => resolve()).on('close', () => resolve())
      sent.on('response', (response) => {
        if (response.statusCode !== 200) response.resume()
        else response.setEncoding('utf8').on('data', take)
        response.on('close', () => resolve())
      })
    })
    sent.end()
    return { ended, stop: () => void sent.destroy() }
  }

  /** Of a request without TLS. */
  async redirect(path: string): Promise<{ status: number; location: string | undefined }> {
    const sent = plainRequest({
      host: '127.0.0.1',
      port: this.#ports.http,
      path,
      headers: { host: NAME },
      agent: false,
    })
    sent.end()
    const [response] = await once(sent, 'response')
    response.resume()
    return { status: response.statusCode, location: response.headers.location }
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    await rm(this.#folder, { recursive: true, force: true })
  }
}
