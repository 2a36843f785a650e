/** A log that holds every kind of row, with claims of each kind. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type CheckRecord, CLOSING, type ReadRecord } from '@claimcheck/core/rules'
import { newId } from '@claimcheck/server/base/ids'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { planClaim } from '@claimcheck/server/features/claims/intake'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import { UNREAD } from '../../../support/rows.ts'

export const SECRET_KEY = '07'.repeat(32)
export const NOON = Date.UTC(2026, 8, 25, 12)

/** More than a full tile. */
export const LEAVES = 306
/** Enough for every kind of row but a full tile. */
export const FEW_LEAVES = 9

const ABSENT: CheckRecord = {
  sentAt: NOON,
  answeredAt: NOON + 3,
  observation: { kind: 'absent', facts: { seen: 'absent' } },
  clockOffsetMs: 0,
}
const FAILED: CheckRecord = { sentAt: NOON + 4, answeredAt: NOON + 5, failure: { code: 'unavailable', status: 503 } }
const PRESENT: ReadRecord = {
  sentAt: NOON + 6,
  answeredAt: NOON + 9,
  observation: {
    kind: 'present',
    facts: { seen: 'present', also: { b: 1, a: [true, null] } },
    differs: [],
    stays: [{ appeared: { notAfter: NOON + 8 } }],
  },
  clockOffsetMs: 0,
}

export interface Installed {
  readonly claimcheck: Claimcheck
  readonly workspaceId: string
  readonly file: string
  submit(see: string): Promise<void>
}

export async function install(folder: string): Promise<Installed> {
  const plugins = [{ use: resolve('build/test/plugins/scripted.js'), trusted: true }]
  // All claims are checked as soon as they come.
  const checks = { concurrency: 1000 }
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins, issuer_name: 'Example', checks }))
  let now = NOON
  const config = loadConfig({ LOG_LEVEL: 'silent', SECRET_KEY }, folder)
  const claimcheck = await openClaimcheck(config, { plugins: true, now: () => now++ })
  await claimcheck.signingKeys.ensureLog()
  const { id: workspaceId } = await claimcheck.workspaces.create('acme')
  let claims = 0
  return {
    claimcheck,
    workspaceId,
    file: join(folder, 'data', 'claimcheck.db'),
    async submit(see) {
      await claimcheck.claims.submit(
        { workspaceId, payer: workspaceId, submittedBy: 'key_1', speaksFor: 'any' },
        {
          clientClaimId: `claim "${++claims}"\t\u{1f600}`,
          agentId: 'agent "1" \u{1f600}',
          action: see === 'nothing' ? 'test.outcome.unknown' : 'test.outcome.reach',
          target: 'some\\where',
          params: see === 'nothing' ? { 10: 'ten', 9: 'nine', b: 1, a: 2 } : { see },
          claimedAt: NOON,
        },
      )
    },
  }
}

/** Somebody who set it up and is signed in, with open links of each kind, and a record. */
async function fillPeople({ accounts, sessions, tickets }: Claimcheck, workspaceId: string): Promise<void> {
  const newUser = { name: 'Ann', email: 'ann@example.com', proof: { password: 'copper lantern drifts home' } }
  const { user } = await accounts.setUp((await accounts.setupToken())!, newUser, '')
  await sessions.start(user, 'password', { userAgent: 'agent', address: '::1' })
  await accounts.inviteToken(workspaceId, 'member', user.id)
  await accounts.resetToken('ann@example.com')
  await tickets.issue('passkey_challenge', { challenge: 'c' })
}

/** Decided one by one and together, under two keys, in one look and in three, through a connection and without; and waiting. */
export async function fill({ claimcheck, workspaceId, submit }: Installed, leaves = LEAVES): Promise<void> {
  const { keys, storage, secrets, sequencer, signingKeys, workspaces } = claimcheck
  await workspaces.create('other')
  await keys.create(workspaceId, 'in use')
  await keys.revoke((await keys.create(workspaceId, 'lost')).id)
  const connectionId = newId('conn_', NOON)
  await storage.write(async (tx) => {
    const connection = { workspaceId, provider: 'scripted', options: { base_url: 'https://example.com' } }
    const sealedSecrets = { token: secrets.seal('s3cret', `connection:${connectionId}:token`) }
    const sealedTokens = { token: secrets.seal('{}', `connection-tokens:${connectionId}:token`) }
    const times = { ...UNREAD, sealedTokens, connectedAt: NOON, disconnectedAt: null }
    await tx.connections.insert({ id: connectionId, ...connection, sealedSecrets, scopes: ['read'], ...times })
    const gone = { ...UNREAD, sealedSecrets: {}, scopes: [], connectedAt: NOON, disconnectedAt: NOON + 5 }
    await tx.connections.insert({ id: newId('conn_', NOON), ...connection, ...gone })
  })
  await fillPeople(claimcheck, workspaceId)
  await submit('present')
  await submit('nothing')
  await Promise.all(Array.from({ length: leaves - 5 }, () => submit('present')))
  await signingKeys.rotate()
  await submit('present')

  const plan = async (clientClaimId: string): Promise<ClaimRow> => ({
    ...(
      await planClaim(
        { workspaceId, payer: workspaceId, submittedBy: 'key_1', speaksFor: 'any' },
        {
          clientClaimId,
          agentId: 'a',
          action: 'test.outcome.reach',
          target: 't',
          params: { see: 'present' },
          claimedAt: NOON,
        },
        NOON,
        {
          registry: claimcheck.registry,
          sources: { isListed: () => false },
          connections: async () => [],
          closing: CLOSING,
        },
      )
    ).claim,
    access: 'connection',
    connectionId,
  })
  const waiting = { at: NOON, decided: undefined, next: { at: NOON + 1000, momentAt: NOON + 2000 } }
  // As receipts of before there was evidence.
  const decided = {
    verdict: { value: 'verified' as const },
    basis: PRESENT,
    facts: PRESENT.observation.facts,
    source: undefined,
    evidence: undefined,
  }
  const { id: submittedBy } = await keys.create(workspaceId, 'bound', { agentIds: ['bot'] })
  const first = { ...(await plan('one look')), agentId: 'bot', agentBound: 1, submittedBy }
  await sequencer.storeChecked({ claim: first, record: PRESENT, at: NOON, decided, next: null })
  let looked = await sequencer.storeChecked({ claim: await plan('three looks'), record: ABSENT, ...waiting })
  looked = await sequencer.advance({ claim: looked!, record: FAILED, ...waiting })
  await sequencer.advance({ claim: looked!, record: PRESENT, at: NOON, decided, next: null })
  await submit('absent')
  await sequencer.store(await plan('never looked at'))
}
