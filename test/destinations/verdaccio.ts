/** A real npm registry, Verdaccio, in a process of its own. What is published to it goes through its own protocol. */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Front, NOW_HEADER } from './front.ts'

export interface VerdaccioOptions {
  readonly now?: () => number
  /** The address of a registry whose packages it shows, too. */
  readonly uplink?: string
}

export interface Publication {
  readonly at?: number
  /** What the package's file holds. */
  readonly content?: string
  /** The digest that the publisher declares; the true one, when left out. */
  readonly integrity?: string
  /** The times that the publisher sends along. */
  readonly time?: Readonly<Record<string, string>>
  readonly tag?: string
  readonly deprecated?: string
  readonly token?: string
}

/** The file of a package with this content. */
export function fileOf(content: string): Buffer {
  // Not compressed, so that a large one takes no time.
  return gzipSync(content, { level: 0 })
}

/** The digest of that file. */
export function integrityOf(content: string): string {
  return `sha512-${createHash('sha512').update(fileOf(content)).digest('base64')}`
}

/** What `publish` puts into a package's file, when nothing else is given. */
export const contentOf = (name: string, version: string): string => `the files of ${name} ${version}`

export class Verdaccio {
  readonly front: Front
  readonly #stop: () => Promise<void>

  private constructor(front: Front, stop: () => Promise<void>) {
    this.front = front
    this.#stop = stop
  }

  static async start({ now = Date.now, uplink }: VerdaccioOptions = {}): Promise<Verdaccio> {
    const folder = await mkdtemp(join(tmpdir(), 'verdaccio-'))
    const config = join(folder, 'config.yaml')
    await writeFile(config, configuration(folder, uplink))
    const child = fork(resolve('build/test/destinations/verdaccio-process.js'), [config], { stdio: 'ignore' })
    const [port] = await Promise.race([
      once(child, 'message') as Promise<[number]>,
      once(child, 'exit').then(() => Promise.reject(new Error('Verdaccio ended as it started'))),
    ])
    const front = await Front.start({ behind: { port }, now })
    return new Verdaccio(front, async () => {
      await front.close()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    })
  }

  get url(): string {
    return this.front.url
  }

  /** @returns the digest of its file */
  async publish(name: string, version: string, publication: Publication = {}): Promise<string> {
    const { content = contentOf(name, version), tag = 'latest', time, at, token, deprecated } = publication
    const file = `${name.split('/').at(-1)}-${version}.tgz`
    const data = fileOf(content)
    const manifest = {
      name,
      version,
      ...(deprecated === undefined ? {} : { deprecated }),
      dist: {
        shasum: createHash('sha1').update(data).digest('hex'),
        integrity: publication.integrity ?? integrityOf(content),
        tarball: `${this.url}/${name}/-/${file}`,
      },
    }
    const body = {
      _id: name,
      name,
      'dist-tags': { [tag]: version },
      versions: { [version]: manifest },
      ...(time ? { time } : {}),
      _attachments: {
        [file]: { content_type: 'application/octet-stream', data: data.toString('base64'), length: data.length },
      },
    }
    await this.#put(escaped(name), body, { at, token })
    return integrityOf(content)
  }

  async unpublish(name: string, version: string, at?: number): Promise<void> {
    await this.#change(name, at, (packument) => {
      delete packument.versions[version]
      for (const [tag, named] of Object.entries(packument['dist-tags']))
        if (named === version) delete packument['dist-tags'][tag]
    })
    const file = `${name.split('/').at(-1)}-${version}.tgz`
    await fetch(`${this.url}/${escaped(name)}/-/${file}/-rev/1`, { method: 'DELETE' })
  }

  async deprecate(name: string, version: string, message: string): Promise<void> {
    await this.#change(name, undefined, (packument) => {
      packument.versions[version]!.deprecated = message
    })
  }

  /** @returns the token of a new user, who may read `@private/*` */
  async addUser(name: string): Promise<string> {
    const { token } = (await this.#put(`-/user/org.couchdb.user:${name}`, {
      name,
      password: `password of ${name}`,
    })) as {
      token: string
    }
    return token
  }

  close(): Promise<void> {
    return this.#stop()
  }

  async #change(name: string, at: number | undefined, change: (packument: Packument) => void): Promise<void> {
    const packument = (await (await fetch(`${this.url}/${escaped(name)}?write=true`)).json()) as Packument
    change(packument)
    await this.#put(`${escaped(name)}/-rev/${packument._rev}`, packument, { at })
  }

  async #put(path: string, body: unknown, { at, token }: { at?: number | undefined; token?: string | undefined } = {}) {
    const response = await fetch(`${this.url}/${path}`, {
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        // It may close a connection in the moment in which the next message is sent on it.
        connection: 'close',
        ...(at === undefined ? {} : { [NOW_HEADER]: String(at) }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 201) throw new Error(`Verdaccio answered ${response.status} to ${path}: ${text}`)
    return JSON.parse(text)
  }
}

interface Packument {
  readonly _rev: string
  readonly versions: Record<string, { deprecated?: string }>
  readonly 'dist-tags': Record<string, string>
}

function escaped(name: string): string {
  return name.replace('/', '%2f')
}

function configuration(folder: string, uplink: string | undefined): string {
  const proxy = uplink === undefined ? '' : ', proxy: upstream'
  return `
storage: ${folder}/storage
auth: { htpasswd: { file: ${folder}/users, max_users: 100, algorithm: sha1 } }
uplinks: ${uplink === undefined ? '{}' : `{ upstream: { url: '${uplink}', maxage: 0s, cache: false } }`}
packages:
  '@private/*': { access: $authenticated, publish: $authenticated, unpublish: $authenticated }
  '**': { access: $all, publish: $all, unpublish: $all${proxy} }
web: { enable: false }
log: { type: stdout, format: json, level: fatal }
`
}
