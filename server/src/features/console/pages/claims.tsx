/** The routes of the claim list and of the page of each claim. */
import { Readable } from 'node:stream'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { isReceipt, type Receipt } from '@claimcheck/core/receipts'
import type { JsonValue } from '@claimcheck/core/rules'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { isId } from '../../../http/route.ts'
import { commandLineOf } from '../../../web/command-line.ts'
import { dayOf } from '../../../web/parts/values.tsx'
import { MOST_EXAMINED } from '../../claims/claim-choice.ts'
import type { ClaimDetail } from '../../claims/claims.ts'
import { type HostChoice, hostsToChoose } from '../../claims/host-choice.ts'
import { showPage } from '../answers.tsx'
import { profilesOf } from '../claims/claim-words.ts'
import { EXPORT_FORMATS, exported, exportType } from '../claims/export.ts'
import { claimChoiceOf, isSifted, readListQuery } from '../claims/list-query.ts'
import { type Landing, storyOf } from '../claims/story.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { formOf, queryOf } from '../request-fields.ts'
import { actingOf, sessionOf, workspaceOf } from '../session.ts'
import { actionTitle } from '../words.ts'
import { ClaimListPage, LostPlace } from './claim-list.tsx'
import { ClaimPage } from './claim-page.tsx'
import { ErasedClaim } from './erased-claim.tsx'
import { firstStepsOf } from './first-steps.tsx'

/** A page of so many weighs less than 60 kB, with its style and its scripts. */
const PAGE_SIZE = 25

export function claimRoutes(app: App, services: ConsoleDependencies): void {
  listRoutes(app, services)
  exportRoutes(app, services)
  pageRoutes(app, services)
}

function listRoutes(app: App, services: ConsoleDependencies): void {
  const { claims, claimStatistics, registry, ownAddress } = services
  const loadedActions = registry.profiles().flatMap(({ action, aliases = {} }) => [action, ...Object.keys(aliases)])

  app.get('/claims', async (request, reply) => {
    const { id: workspaceId } = workspaceOf(request)
    const query = readListQuery(queryOf(request))
    const { filter, cursor, span } = query
    const choice = claimChoiceOf(filter)
    const asked = { ...choice, limit: PAGE_SIZE, ...(isSifted(filter) ? { mostExamined: MOST_EXAMINED } : {}) }
    const [page, newerCursor, counted, claimedActions] = await Promise.all([
      claims.list(workspaceId, { ...asked, ...(cursor === undefined ? {} : { cursor }) }).catch(orLost),
      cursor === undefined ? undefined : claims.newerCursor(workspaceId, { ...asked, cursor }).catch(orLost),
      cursor === undefined ? claimStatistics.count(workspaceId, span, choice) : undefined,
      claimStatistics.actions(workspaceId),
    ])
    if (!page) return showPage(request, reply, <LostPlace query={query} />, 400)
    const hasNone = page.claims.length === 0 && cursor === undefined && Object.keys(filter).length === 0
    return showPage(
      request,
      reply,
      <ClaimListPage
        query={query}
        page={page}
        newerCursor={newerCursor}
        counted={counted}
        actions={[...new Set([...loadedActions, ...claimedActions])]}
        titleOf={(action) => actionTitle(registry, action)}
        profileOf={profilesOf(registry)}
        firstSteps={hasNone ? await firstStepsOf(workspaceId, ownAddress.origin(), services) : undefined}
      />,
    )
  })
}

function exportRoutes(app: App, services: ConsoleDependencies): void {
  const { allowances, auditTrail, claims, now, ownAddress } = services
  // A form and no link, because an export is recorded: no other site can have it recorded.
  app.post(
    '/claims/export',
    { config: { cost: 'export' }, preHandler: freshSignInOnly(services) },
    async (request, reply) => {
      const { id: workspaceId } = workspaceOf(request)
      const fields = formOf(request)
      const format = EXPORT_FORMATS.find((one) => one === fields.format)
      if (!format) throw new ServiceError('bad_request', `choose ${EXPORT_FORMATS.join(' or ')} as the format`)
      const { filter, problems } = readListQuery(fields)
      // A file cannot say that a filter was ignored.
      if (problems.length > 0) throw new ServiceError('bad_request', problems.join('; '))
      await allowances.spendExport(sessionOf(request).user)
      const details = { format, ...filter }
      await auditTrail.record({ event: 'claims.exported', by: actingOf(request), workspaceId, details })
      const origin = ownAddress.origin()
      const rows = exported(format, claimChoiceOf(filter), {
        list: (choice) => claims.list(workspaceId, choice),
        decidedAt: (claimIds) => claims.decidedAt(claimIds),
        receiptUrl: (receiptId) => `${origin}/v1/receipts/${receiptId}`,
      })
      const name = `claims-${dayOf(now())}.${format}`
      return reply
        .type(exportType(format))
        .header('content-disposition', `attachment; filename="${name}"`)
        .send(Readable.from(rows))
    },
  )
}

function pageRoutes(app: App, services: ConsoleDependencies): void {
  const { claims, registry, ownAddress, config } = services

  app.get<{ Params: { claim_id: string } }>('/claims/:claim_id', async (request, reply) => {
    const { claim_id: claimId } = request.params
    const { id: workspaceId } = workspaceOf(request)
    const detail = isId(claimId) ? await claims.detail(workspaceId, claimId) : undefined
    if (!detail) throw new ServiceError('not_found', 'there is no such claim')
    const { claim } = detail
    if (claim.erasure) {
      const title = actionTitle(registry, claim.action)
      return showPage(request, reply, <ErasedClaim claim={claim} erasure={claim.erasure} title={title} />)
    }
    const [receipt, provider, choice] = await Promise.all([
      receiptOf(services, detail),
      providerOf(services, workspaceId, detail),
      choiceOf(services, workspaceId, detail),
    ])
    const landing = receipt && (await landingOf(services, receipt))
    const anchors = registry.anchorer !== undefined
    const profile = profileOf(services, detail)
    const story = storyOf({ detail, toleranceMs: profile?.toleranceMs, receipt, landing, anchors })
    return showPage(
      request,
      reply,
      <ClaimPage
        detail={detail}
        profile={profile}
        isForeign={profile !== undefined && registry.isForeign(profile)}
        provider={provider}
        choice={choice}
        receipt={receipt}
        titleOf={(name) => registry.connectionType(name)?.title ?? name}
        story={story}
        origin={ownAddress.origin()}
        commandLine={commandLineOf(config)}
      />,
    )
  })
}

async function receiptOf(
  { receipts }: ConsoleDependencies,
  { claim: { receiptId } }: ClaimDetail,
): Promise<Receipt | undefined> {
  const text = receiptId === null ? undefined : await receipts.get(receiptId)
  if (text === undefined) return undefined
  const receipt = JSON.parse(text) as JsonValue
  return isReceipt(receipt) ? receipt : undefined
}

/** Null: the connection was removed. */
async function providerOf(
  { connections }: ConsoleDependencies,
  workspaceId: string,
  { connectionId }: ClaimDetail,
): Promise<string | null | undefined> {
  if (connectionId === null) return undefined
  const active = await connections.list(workspaceId)
  return active.find(({ id }) => id === connectionId)?.provider ?? null
}

/** The hosts to choose from, for a claim that several connections fitted. */
async function choiceOf(
  { connections, registry, sources }: ConsoleDependencies,
  workspaceId: string,
  { claim, payer, params, profile, access }: ClaimDetail,
): Promise<HostChoice | undefined> {
  const registered = registry.verifierFor(profile.action, profile.version)
  if (access !== 'ambiguous_claim' || !registered) return undefined
  const { action, target, claimedAt, deadlineAt, submittedAt } = claim
  const claimed = { action, target, params, claimedAt, deadlineAt, submittedAt }
  const resolving = { registry, sources, tenant: { workspaceId, payer } }
  return hostsToChoose(claimed, registered, resolving, await connections.open(workspaceId))
}

async function landingOf({ log }: ConsoleDependencies, { proof }: Receipt): Promise<Landing | undefined> {
  if (!proof?.anchor) return undefined
  const { chain, tx_hash: txHash, uid, tree_size: treeSize } = proof.anchor
  const { anchors } = await log.anchors(1, treeSize + 1)
  const landed = anchors.find((anchor) => anchor.uid === uid)
  const block = landed && { number: landed.blockNumber, time: landed.blockTime * 1000 }
  return { chain, txHash, uid, ...(block ? { block } : {}) }
}

/** Undefined where that version of the profile is not loaded: another one has other rules. */
function profileOf(
  { registry }: ConsoleDependencies,
  { profile: { action, version } }: ClaimDetail,
): ActionProfile | undefined {
  return registry.verifierFor(action, version)?.verifier.profile
}

/** Undefined for a cursor that is not one of ours. @throws any other error */
function orLost(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'bad_request') return undefined
  throw error
}
