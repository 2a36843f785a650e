/** GitHub Apps at the stand-in: it checks their signatures and times, shows their installations, and gives tokens for them. */
import { type KeyObject, randomBytes, verify } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { no, ok } from './github-replies.ts'
import type { Reply, Right } from './kind.ts'
import type { ForgeRepository } from './model.ts'
import type { StandIn } from './stand-in.ts'

export interface Installation {
  readonly id: number
  readonly repositories: readonly ForgeRepository[]
  /** `metadata` is always among them. */
  permissions: Readonly<Record<string, 'read' | 'write'>>
  isSuspended?: boolean
}

export interface App {
  readonly id: number
  readonly clientId?: string
  readonly publicKey: KeyObject
  /** Those that nobody has removed. */
  readonly installations: Installation[]
}

const apps = new WeakMap<StandIn, App[]>()
/** Permissions of the tokens that a stand-in gave, oldest first. */
const given = new WeakMap<StandIn, Record<string, string>[]>()

export function addApp(standIn: StandIn, app: App): App {
  apps.set(standIn, [...(apps.get(standIn) ?? []), app])
  return app
}

export const tokensGiven = (standIn: StandIn): readonly Readonly<Record<string, string>>[] => given.get(standIn) ?? []

const PATH = /^\/app\/installations\/(\d+)(\/access_tokens)?$/
const LONGEST_SECONDS = 600
const HOUR_MS = 3_600_000

/** Answers a request of an app; undefined for every other one. */
export async function appAnswer(request: IncomingMessage, path: string, standIn: StandIn): Promise<Reply | undefined> {
  const [, id, tokens] = PATH.exec(path) ?? []
  if (id === undefined || request.method !== (tokens ? 'POST' : 'GET')) return undefined
  const signed = signedBy(request, standIn)
  if (typeof signed === 'string') return no(401, signed)
  const installation = signed.installations.find((one) => one.id === Number(id))
  if (!installation) return no(404, 'Not Found')
  return tokens ? tokenFor(installation, await text(request), standIn) : ok(installationAnswer(signed, installation))
}

/** The app that signed the request, or why GitHub believes that none did. */
function signedBy({ headers }: IncomingMessage, standIn: StandIn): App | string {
  const jwt = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  const { alg } = objectOf(header)
  const { iss, iat, exp } = objectOf(claims)
  if (alg !== 'RS256' || typeof iat !== 'number' || typeof exp !== 'number')
    return 'A JSON web token could not be decoded'
  const app = apps.get(standIn)?.find(({ id, clientId }) => iss === String(id) || iss === clientId)
  if (!app) return "'Issuer' claim ('iss') must be an Integer"
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    app.publicKey,
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) return 'A JSON web token could not be decoded'
  const now = standIn.now() / 1000
  if (iat > now)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
  if (exp <= now) return "'Expiration time' claim ('exp') must be a numeric value representing the future time"
  return exp > now + LONGEST_SECONDS ? "'Expiration time' claim ('exp') is too far in the future" : app
}

function objectOf(part: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return {}
  }
}

function installationAnswer({ id }: App, installation: Installation) {
  return {
    ...{ id: installation.id, app_id: id, target_type: 'Organization', repository_selection: 'selected', events: [] },
    permissions: installation.permissions,
    suspended_at: installation.isSuspended ? '2026-09-01T00:00:00Z' : null,
  }
}

function tokenFor(
  { permissions: granted, repositories, isSuspended }: Installation,
  body: string,
  standIn: StandIn,
): Reply {
  if (isSuspended) return no(403, 'This installation has been suspended')
  const { permissions: asked = {} } = JSON.parse(body || '{}') as { permissions?: Record<string, string> }
  const isGranted = ([name, level]: [string, string]) => granted[name] === 'write' || granted[name] === level
  if (!Object.entries(asked).every(isGranted))
    return no(422, 'The permissions requested are not granted to this installation.')
  const permissions = Object.keys(asked).length > 0 ? asked : granted
  const rights = Object.keys(permissions).filter((name): name is Right => name !== 'metadata')
  const until = Math.ceil((standIn.now() + HOUR_MS) / 1000) * 1000
  const token = `ghs_${randomBytes(18).toString('hex')}`
  standIn.addToken({ token, repositories, rights, contents: rights.includes('contents'), until })
  given.set(standIn, [...tokensGiven(standIn), permissions])
  return { ...ok({ token, expires_at: new Date(until).toISOString(), permissions }), status: 201 }
}
