/**
 * Says who built an installed package, as far as that is proven: npm verifies the registry's attestations against Sigstore, and the identity is that
 * of the certificate which signed. What a registry only says is not repeated.
 */
import { X509Certificate } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonValue } from '@claimcheck/core/rules'
import { runNpm } from './npm.ts'

export interface Provenance {
  /** The identity that built the package, as Sigstore certified it; undefined if none is proven. */
  readonly builtBy: string | undefined
  readonly words: string
}

/** A package as npm's lock names it. */
export interface LockedPackage {
  readonly name: string
  readonly version: string
  /** The address of its archive. */
  readonly resolved: string
  /** The digest of its archive, which npm compared: `sha512-<base64>`. */
  readonly integrity: string
}

/** Finds how npm installed a package; undefined for one that it did not install from an archive. */
export function lockedPackage(folder: string, name: string): LockedPackage | undefined {
  const lock = join(folder, 'node_modules/.package-lock.json')
  const found = existsSync(lock) && member(JSON.parse(readFileSync(lock, 'utf8')), 'packages', `node_modules/${name}`)
  const [version, resolved, integrity] = ['version', 'resolved', 'integrity'].map((key) => textAt(found || null, key))
  return version && resolved && integrity ? { name, version, resolved, integrity } : undefined
}

/** Reads and verifies the provenance of an installed package. It never throws: what fails proves nothing. */
export async function readProvenance(folder: string, name: string, stopped?: AbortSignal): Promise<Provenance> {
  const locked = lockedPackage(folder, name)
  if (!locked) return none('npm did not install it from an archive')
  if (!/^https?:/.test(locked.resolved)) return none('it comes from a file, and not from a registry')
  const host = new URL(locked.resolved).host
  try {
    const dist = await runNpm(folder, ['view', `${name}@${locked.version}`, 'dist'], stopped)
    if (textAt(dist, 'integrity') !== locked.integrity)
      return none(`${host} has another package under this version now`)
    if (!member(dist, 'attestations')) return none(`${host} has no attestation of it`)
    const builtBy = verifiedBuilder(await audit(folder, locked, stopped), locked)
    if (builtBy !== undefined) return { builtBy, words: `verified by npm: built by ${builtBy}` }
    return none(`${host} has an attestation, which npm did not verify`)
  } catch (error) {
    if (stopped?.aborted) throw error
    return none(`it could not be verified: ${(error as Error).message.split('\n')[0]}`)
  }
}

function none(reason: string): Provenance {
  return { builtBy: undefined, words: `no provenance: ${reason}` }
}

/** Has npm verify the attestations of this package alone, in a folder that names nothing else. */
async function audit(folder: string, { name, version }: LockedPackage, stopped?: AbortSignal): Promise<unknown> {
  const alone = mkdtempSync(join(tmpdir(), 'claimcheck-provenance-'))
  try {
    const installed = join(alone, 'node_modules', name)
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(alone, 'package.json'), JSON.stringify({ private: true, dependencies: { [name]: version } }))
    writeFileSync(join(installed, 'package.json'), JSON.stringify({ name, version }))
    if (existsSync(join(folder, '.npmrc'))) copyFileSync(join(folder, '.npmrc'), join(alone, '.npmrc'))
    return await runNpm(alone, ['audit', 'signatures', '--include-attestations'], stopped)
  } finally {
    rmSync(alone, { recursive: true, force: true })
  }
}

const PROVENANCE = /^https:\/\/slsa\.dev\/provenance\//

/**
 * Finds the builder in npm's report of what it verified.
 * @returns the identity in the certificate of a provenance about exactly this archive; undefined if there is none
 */
export function verifiedBuilder(report: unknown, { name, version, integrity }: LockedPackage): string | undefined {
  const problems = ['invalid', 'missing'].flatMap((list) => listAt(report, list))
  const verified = listAt(report, 'verified').filter(
    (one) => textAt(one, 'name') === name && textAt(one, 'version') === version,
  )
  if (problems.length > 0 || verified.length !== 1) return undefined
  for (const { predicateType, bundle } of listAt(verified[0], 'attestationBundles') as readonly Attestation[]) {
    if (typeof predicateType !== 'string' || !PROVENANCE.test(predicateType)) continue
    const payload = textAt(member(bundle, 'dsseEnvelope'), 'payload')
    const statement = payload === undefined ? undefined : JSON.parse(Buffer.from(payload, 'base64').toString())
    const isOfThis = listAt(statement, 'subject').some((subject) => digestAt(subject) === integrity)
    const builder = isOfThis ? certifiedIdentity(bundle) : undefined
    if (builder !== undefined) return builder
  }
  return undefined
}

interface Attestation {
  readonly predicateType?: unknown
  readonly bundle?: unknown
}

function digestAt(subject: unknown): string | undefined {
  const hex = textAt(member(subject, 'digest'), 'sha512')
  return hex && `sha512-${Buffer.from(hex, 'hex').toString('base64')}`
}

/** Reads the one identity of the certificate that signed a bundle. */
function certifiedIdentity(bundle: unknown): string | undefined {
  const material = member(bundle, 'verificationMaterial')
  const [first] = listAt(member(material, 'x509CertificateChain'), 'certificates')
  const raw = textAt(member(material, 'certificate') ?? first, 'rawBytes')
  if (raw === undefined) return undefined
  const names = new X509Certificate(Buffer.from(raw, 'base64')).subjectAltName
  const [, identity] = /^(?:URI|email):([^,"\s]+)$/.exec(names ?? '') ?? []
  return identity
}

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (inner, name) => (isJsonObject(inner as JsonValue) ? (inner as Record<string, unknown>)[name] : undefined),
    value,
  )
}

function textAt(value: unknown, name: string): string | undefined {
  const found = member(value, name)
  return typeof found === 'string' ? found : undefined
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name)
  return Array.isArray(found) ? found : []
}
