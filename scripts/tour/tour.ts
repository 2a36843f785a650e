/** Claims and verifies what agents do at each kind of destination, a line each. */
import { createRequire } from 'node:module'
import { createClient } from '@claimcheck/client'
import { Authority } from '../../test/destinations/certificates.ts'
import { requireSound, requireSoundCopies } from '../../test/support/lived-in.ts'
import { Service } from '../demo/service.ts'
import { heading, paint, say, showVerdict } from '../demo/terminal.ts'
import { addedStops } from './added.ts'
import { codeHostStops } from './code-hosts.ts'
import { gitStop } from './git.ts'
import { httpStop } from './http.ts'
import { registryStop } from './registry.ts'
import type { Stop } from './stop.ts'

const ACTION_WIDTH = 28
/** A claim that holds is verified at the first check. */
const LONGEST_MS = 120_000

/** @returns whether every claim that is true was verified, and every other one was not */
export async function takeTour(): Promise<boolean> {
  const startedAt = Date.now()
  const stops: Stop[] = []
  const authority = new Authority()
  try {
    heading('An agent works at each kind of destination, and claims what it did')
    stops.push(await gitStop(), ...(await codeHostStops()), await registryStop(), await httpStop(authority))
    const added = await addedStops(authority)
    stops.push(...added.stops)
    const claims = stops.reduce((sum, stop) => sum + stop.claims.length, 0)
    const right = await visit(stops, authority)
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    say(`\n${right} of ${claims} claims at ${stops.length} destinations have the right verdict, in ${seconds} s.`)
    for (const reason of added.leftOut) say(paint('dim', reason))
    return right === claims
  } finally {
    for (const stop of stops) await stop.close()
    authority.remove()
  }
}

/** Counts the claims whose verdict is right. */
async function visit(stops: readonly Stop[], authority: Authority): Promise<number> {
  process.env.NODE_EXTRA_CA_CERTS = authority.file
  const { resolve } = createRequire(import.meta.url)
  const packages = new Set(stops.flatMap(({ plugin }) => plugin ?? []))
  const plugins = [...packages].map((name) => ({ use: resolve(name) }))
  const hosts = stops.map(({ allowPrivate }) => allowPrivate)
  const service = await Service.create(hosts, plugins)
  try {
    await service.start()
    let right = 0
    for (const [index, stop] of stops.entries()) right += await visitOne(service, stop, `stop-${index + 1}`)
    heading('What is left is sound: doctor, backup, restore and copy')
    await requireSound(service)
    await requireSoundCopies(service, 'sqlite')
    return right
  } finally {
    await service.remove()
  }
}

/** Uses a separate workspace, so that one connection alone fits. */
async function visitOne(service: Service, { place, connect, claims }: Stop, workspace: string): Promise<number> {
  heading(place)
  await service.must('workspace', 'create', workspace)
  if (connect) await service.must('connection', 'add', ...connect, '--workspace', workspace)
  const { key } = await service.must<{ key: string }>('key', 'create', '--workspace', workspace)
  const client = createClient({ baseUrl: service.url, key, agentId: 'tour-agent' })
  let right = 0
  for (const { action, target, params, verdict = 'verified' } of claims) {
    const submitted = await client.submit({ action, target, params })
    const decided = await client.wait(submitted, { timeoutMs: LONGEST_MS }).catch(() => undefined)
    const outcome = decided ? `${showVerdict(decided.verdict)} ${decided.reason_code ?? ''}` : 'not decided'
    if (decided?.verdict === verdict) right++
    say(`  ${outcome.trim()}  ${action.padEnd(ACTION_WIDTH)} ${target}  ${paint('dim', decided?.receipt_id ?? '')}`)
  }
  return right
}
