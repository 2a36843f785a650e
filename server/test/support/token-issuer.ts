/** Tokens for Debian's docker-registry: it trusts a certificate of the tests, and the issuer gives access to what a user may read. */
import { createHash, randomUUID, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../../../test/support/free-port.ts'
import { INNER, serve } from './loopback.ts'
import { startServer, temporaryFolder } from './service-process.ts'

interface Access {
  readonly type: string
  readonly name: string
  readonly actions: readonly string[]
}

export function issue(access: readonly Access[], expiresIn = 300): string {
  const now = Math.floor(Date.now() / 1000)
  const [, pem = ''] = /-----BEGIN CERTIFICATE-----([^-]+)/.exec(INNER.cert) ?? []
  const header = { typ: 'JWT', alg: 'ES256', x5c: [pem.replace(/\s/g, '')] }
  const body = {
    iss: 'issuer',
    sub: 'user',
    aud: 'registry',
    exp: now + expiresIn,
    nbf: now - 10,
    iat: now,
    jti: randomUUID(),
    access,
  }
  const text = [header, body].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(text), { key: INNER.key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

export interface Asked {
  readonly scopes: readonly string[]
  readonly service: string | null
  readonly authorization: string | undefined
}

export interface RunningRegistry {
  readonly url: string
  /** `127.0.0.1:port` of the issuer. */
  readonly issuer: string
  readonly asked: readonly Asked[]
  /** Pushes an image of one manifest. @returns its digest */
  push(repository: string, tag: string): Promise<string>
}

/** @param password of `user`; anybody reads what is below `public/`. A repository that does not exist is open to no one, as at Docker Hub. */
export async function startRegistry(t: Test, program: string, password: string): Promise<RunningRegistry> {
  const asked: Asked[] = []
  const existing = new Set<string>()
  const issuer = await serve(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://issuer')
    const { authorization } = request.headers
    const scopes = searchParams.getAll('scope')
    asked.push({ scopes, service: searchParams.get('service'), authorization })
    const isUser = authorization === `Basic ${Buffer.from(`user:${password}`).toString('base64')}`
    if (authorization !== undefined && !isUser) return void response.writeHead(401).end('{}')
    const access = scopes.flatMap((scope) => {
      const [type = '', name = '', actions = ''] = scope.split(':')
      const mayRead = existing.has(name) && (isUser || name.startsWith('public/'))
      return mayRead ? [{ type, name, actions: actions.split(',').filter((action) => action === 'pull') }] : []
    })
    response.end(JSON.stringify({ token: issue(access), expires_in: 300 }))
  })
  const folder = temporaryFolder(t)
  const port = await freePort()
  writeFileSync(join(folder, 'root.pem'), INNER.cert)
  writeFileSync(
    join(folder, 'config.yml'),
    [
      'version: 0.1',
      'log: {level: error}',
      `storage: {filesystem: {rootdirectory: ${folder}/data}}`,
      `http: {addr: '127.0.0.1:${port}'}`,
      'auth:',
      `  token: {realm: 'http://${issuer}/token', service: registry, issuer: issuer, rootcertbundle: ${folder}/root.pem}`,
    ].join('\n'),
  )
  await startServer(t, program, ['serve', join(folder, 'config.yml')], port)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    issuer,
    asked,
    async push(repository, tag) {
      const authorization = `Bearer ${issue([{ type: 'repository', name: repository, actions: ['pull', 'push'] }])}`
      const send = async (method: string, path: string, body: string, type: string) => {
        const at = new URL(path, url)
        const response = await fetch(at, { method, body, headers: { authorization, 'content-type': type } })
        if (!response.ok) throw new Error(`${method} ${at.pathname}: ${response.status} ${await response.text()}`)
        return response
      }
      const config = '{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}'
      const digest = `sha256:${createHash('sha256').update(config).digest('hex')}`
      const upload = await send('POST', `/v2/${repository}/blobs/uploads/`, '', 'application/octet-stream')
      const at = new URL(upload.headers.get('location')!, url)
      at.searchParams.set('digest', digest)
      await send('PUT', at.href, config, 'application/octet-stream')
      const type = 'application/vnd.oci.image.manifest.v1+json'
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: type,
        config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: config.length },
        layers: [],
      })
      existing.add(repository)
      const pushed = await send('PUT', `/v2/${repository}/manifests/${tag}`, manifest, type)
      return pushed.headers.get('docker-content-digest')!
    },
  }
}
