/** A real registry, Debian's docker-registry, open or with an issuer of tokens at another origin; its content is set by pushing and by removing files. */
import { spawn } from 'node:child_process'
import { createHash, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Authority } from '../../../test/destinations/certificates.ts'
import { Front } from '../../../test/destinations/front.ts'
import { freePort } from '../../../test/support/free-port.ts'

export const OCI_IMAGE = 'application/vnd.oci.image.manifest.v1+json'
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json'
const OCI_CONFIG = 'application/vnd.oci.image.config.v1+json'

export interface Content {
  readonly type: string
  readonly text: string
  readonly digest: string
}

export const digestOf = (text: string, algorithm = 'sha256') =>
  `${algorithm}:${createHash(algorithm).update(text).digest('hex')}`

/** An image for a platform. @param mark tells it from others of the platform */
export function imageOf(mark: string, platform = 'linux/amd64'): Content & { readonly config: string } {
  const [os, architecture, variant] = platform.split('/')
  const config = JSON.stringify({ os, architecture, variant, rootfs: { type: 'layers', diff_ids: [] }, author: mark })
  const described = { mediaType: OCI_CONFIG, digest: digestOf(config), size: config.length }
  const text = JSON.stringify({ schemaVersion: 2, mediaType: OCI_IMAGE, config: described, layers: [] })
  return { type: OCI_IMAGE, text, digest: digestOf(text), config }
}

export interface Child extends Content {
  readonly platform?: string
  /** It attests another, as BuildKit marks that. */
  readonly isAttestation?: boolean
}

export function indexOf(...children: readonly Child[]): Content {
  const manifests = children.map(({ type, digest, text, platform, isAttestation }) => {
    const [os, architecture, variant] = platform?.split('/') ?? []
    return {
      ...{ mediaType: type, digest, size: text.length },
      ...(platform && { platform: { os, architecture, variant } }),
      ...(isAttestation && { annotations: { 'vnd.docker.reference.type': 'attestation-manifest' } }),
    }
  })
  const text = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests })
  return { type: OCI_INDEX, text, digest: digestOf(text) }
}

export interface RegistryOptions {
  readonly now: () => number
  /** The password of `user`, who reads everything, and of `guest`, who reads nothing. The registry is open when left out. */
  readonly password?: string
}

export class DockerRegistry {
  readonly front: Front
  /** The address of the issuer; empty of an open registry. */
  readonly issuer: string
  readonly #folder: string
  readonly #token: (name: string) => string | undefined
  readonly #stop: () => Promise<void>

  private constructor(
    front: Front,
    issuer: string,
    folder: string,
    token: (name: string) => string | undefined,
    stop: () => Promise<void>,
  ) {
    this.front = front
    this.issuer = issuer
    this.#folder = folder
    this.#token = token
    this.#stop = stop
  }

  static async start(program: string, { now, password }: RegistryOptions): Promise<DockerRegistry> {
    const folder = await mkdtemp(join(tmpdir(), 'docker-registry-'))
    const issuer = password === undefined ? undefined : await startIssuer(folder, password)
    const port = await freePort()
    const config = [
      'version: 0.1',
      'log: {level: error}',
      `storage: {filesystem: {rootdirectory: ${folder}/data}}`,
      `http: {addr: '127.0.0.1:${port}', relativeurls: true}`,
      ...(issuer
        ? [`auth: {token: {realm: '${issuer.url}/token', service: r, issuer: i, rootcertbundle: ${folder}/root.pem}}`]
        : []),
    ]
    await writeFile(join(folder, 'config.yml'), config.join('\n'))
    const child = spawn(program, ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
    const url = `http://127.0.0.1:${port}`
    for (let waited = 0; waited < 20_000; waited += 50) {
      if (await fetch(`${url}/v2/`).catch(() => undefined)) break
      await setTimeout(50)
    }
    const front = await Front.start({ behind: { port }, now })
    return new DockerRegistry(front, issuer?.url ?? '', folder, issuer?.pushToken ?? (() => undefined), async () => {
      await front.close()
      issuer?.close()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    })
  }

  get url(): string {
    return this.front.url
  }

  close(): Promise<void> {
    return this.#stop()
  }

  /** Makes it a registry to which nothing was ever pushed. */
  async clear(): Promise<void> {
    await rm(join(this.#folder, 'data'), { recursive: true, force: true })
  }

  /** Takes a tag away, and leaves its manifest. */
  async untag(name: string, tag: string): Promise<void> {
    const tags = join(this.#folder, 'data/docker/registry/v2/repositories', name, '_manifests/tags')
    await rm(join(tags, tag), { recursive: true, force: true })
  }

  /** Pushes an image, or an index whose children are there. @param reference a tag, or the digest */
  async push(name: string, reference: string, content: Content & { readonly config?: string }): Promise<void> {
    const token = this.#token(name)
    const send = async (method: string, path: string, body: string, type: string) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const headers = { 'content-type': type, ...authorization }
      const response = await fetch(new URL(path, this.url), { method, body, headers })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return response
    }
    if (content.config !== undefined) {
      const begun = await send('POST', `/v2/${name}/blobs/uploads/`, '', 'application/octet-stream')
      const at = new URL(begun.headers.get('location')!, this.url)
      at.searchParams.set('digest', digestOf(content.config))
      await send('PUT', at.pathname + at.search, content.config, 'application/octet-stream')
    }
    await send('PUT', `/v2/${name}/manifests/${reference}`, content.text, content.type)
  }
}

interface Access {
  readonly type: string
  readonly name: string
  readonly actions: readonly string[]
}

/** Starts an issuer, whose certificate the registry trusts. */
async function startIssuer(folder: string, password: string) {
  const authority = new Authority()
  const { key, cert } = authority.issue(['issuer.example'])
  await writeFile(join(folder, 'root.pem'), authority.cert)
  authority.remove()
  const [, pem = ''] = /-----BEGIN CERTIFICATE-----([^-]+)/.exec(cert) ?? []
  function issue(access: readonly Access[]): string {
    const iat = Math.floor(Date.now() / 1000)
    const header = { typ: 'JWT', alg: 'ES256', x5c: [pem.replace(/\s/g, '')] }
    const body = { iss: 'i', sub: 'user', aud: 'r', exp: iat + 300, nbf: iat - 10, iat, jti: randomUUID(), access }
    const text = [header, body].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }
  const server = createServer(({ url = '', headers }, response) => {
    const users = ['user', 'guest'].map((name) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`)
    const { authorization = '' } = headers
    if (authorization !== '' && !users.includes(authorization)) return void response.writeHead(401).end('{}')
    const access = new URL(url, 'http://issuer').searchParams.getAll('scope').flatMap((scope) => {
      const [type = '', name = ''] = scope.split(':')
      return authorization === users[0] ? [{ type, name, actions: ['pull'] }] : []
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ token: issue(access), expires_in: 300 }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pushToken: (name: string) => issue([{ type: 'repository', name, actions: ['pull', 'push'] }]),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
