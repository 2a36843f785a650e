/** The addresses of claims: the list, its export, and the page of each claim. */
import { Readable } from 'node:stream'
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
import { profilesOf } from '../claims/claim-words.ts'
import { EXPORT_FORMATS, EXPORT_FORMS, exported } from '../claims/export.ts'
import { claimChoiceOf, isSifted, readListQuery } from '../claims/list-query.ts'
import { type Landing, storyOf } from '../claims/story.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, guarded, requireFound, visitOf } from '../form-page.tsx'
import { actionTitle } from '../words.ts'
import { ClaimListPage, LostPlace } from './claim-list.tsx'
import { ClaimPage, ErasedClaim } from './claim-page.tsx'
import { firstStepsOf } from './first-steps.tsx'

/** The number of claims on a page: with its style and its scripts such a page weighs less than 60 kB. */
const PAGE_SIZE = 25

export function claimRoutes(app: App, services: ConsoleDependencies): void {
  const { allowances, auditTrail, claims, claimStatistics, registry, revisits, ownAddress, config, now } = services
  const loadedActions = registry.profiles().flatMap(({ action, aliases = {} }) => [action, ...Object.keys(aliases)])

  addPage(app, services, '/claims', {
    show: async ({ workspace: { id: workspaceId }, query: given }) => {
      const query = readListQuery(given)
      const { filter, cursor, span } = query
      const choice = claimChoiceOf(filter)
      const asked = { ...choice, limit: PAGE_SIZE, mostExamined: isSifted(filter) ? MOST_EXAMINED : undefined }
      const [page, newerCursor, counted, claimedActions] = await Promise.all([
        claims.list(workspaceId, { ...asked, cursor }).catch(orLost),
        cursor === undefined ? undefined : claims.newerCursor(workspaceId, { ...asked, cursor }).catch(orLost),
        cursor === undefined ? claimStatistics.count(workspaceId, span, choice) : undefined,
        claimStatistics.actions(workspaceId),
      ])
      if (!page) return { page: <LostPlace query={query} />, status: 400 }
      const hasNone = page.claims.length === 0 && cursor === undefined && Object.keys(filter).length === 0
      return (
        <ClaimListPage
          query={query}
          page={page}
          newerCursor={newerCursor}
          counted={counted}
          actions={[...new Set([...loadedActions, ...claimedActions])]}
          titleOf={(action) => actionTitle(registry, action)}
          profileOf={profilesOf(registry)}
          firstSteps={hasNone ? await firstStepsOf(workspaceId, ownAddress.origin(), services) : undefined}
        />
      )
    },
  })

  // Exports have a form and no link, because they are recorded: no other site can have one recorded.
  const exports = guarded(services, { freshSignIn: true, cost: 'export' })
  app.post('/claims/export', exports, async (request, reply) => {
    const { workspace, user, form, by } = visitOf(request, reply)
    const format = EXPORT_FORMATS.find((one) => one === form.format)
    if (!format) throw new ServiceError('bad_request', `choose ${EXPORT_FORMATS.join(' or ')} as the format`)
    const { filter, problems } = readListQuery(form)
    // A file cannot say that a filter was ignored.
    if (problems.length > 0) throw new ServiceError('bad_request', problems.join('; '))
    await allowances.spendExport(user)
    const details = { format, ...filter }
    await auditTrail.record({ event: 'claims.exported', by, workspaceId: workspace.id, details })
    const origin = ownAddress.origin()
    const rows = exported(format, claimChoiceOf(filter), {
      list: (choice) => claims.list(workspace.id, choice),
      decidedAt: (claimIds) => claims.decidedAt(claimIds),
      receiptUrl: (receiptId) => `${origin}/v1/receipts/${receiptId}`,
    })
    return reply
      .type(EXPORT_FORMS[format].type)
      .header('content-disposition', `attachment; filename="claims-${dayOf(now())}.${format}"`)
      .send(Readable.from(rows))
  })

  addPage(app, services, '/claims/:claim_id', {
    show: async ({ workspace: { id: workspaceId }, params: { claim_id: claimId } }) => {
      const found = isId(claimId) ? await claims.detail(workspaceId, claimId) : undefined
      const detail = requireFound(found, 'there is no such claim')
      const { claim } = detail
      if (claim.erasure)
        return <ErasedClaim claim={claim} erasure={claim.erasure} title={actionTitle(registry, claim.action)} />
      const [revisited, receipt, provider, choice] = await Promise.all([
        revisits.ofClaim(claimId),
        receiptOf(services, detail),
        providerOf(services, workspaceId, detail),
        choiceOf(services, workspaceId, detail),
      ])
      const landing = receipt && (await landingOf(services, receipt))
      const anchors = registry.anchorer !== undefined
      // Other versions than that of the claim have other rules.
      const profile = registry.verifierFor(detail.profile.action, detail.profile.version)?.verifier.profile
      return (
        <ClaimPage
          detail={detail}
          profile={profile}
          isForeign={profile !== undefined && registry.isForeign(profile)}
          provider={provider}
          choice={choice}
          revisits={revisited}
          receipt={receipt}
          titleOf={(name) => registry.connectionType(name)?.title ?? name}
          story={storyOf({ detail, toleranceMs: profile?.toleranceMs, receipt, landing, anchors })}
          origin={ownAddress.origin()}
          commandLine={commandLineOf(config)}
        />
      )
    },
    forms: {
      '/claims/:claim_id/revisit': {
        owners: true,
        freshSignIn: 'it only reads, three times for a claim at most',
        showsRefusal: false,
        save: async ({ workspace, params, by }) => {
          if (!isId(params.claim_id)) throw new ServiceError('not_found', 'there is no such claim')
          await revisits.ask(workspace.id, params.claim_id, by)
        },
        done: 'revisit-asked',
      },
    },
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

/** Finds the provider of a claim's connection; null when the connection was removed. */
async function providerOf(
  { connections }: ConsoleDependencies,
  workspaceId: string,
  { connectionId }: ClaimDetail,
): Promise<string | null | undefined> {
  if (connectionId === null) return undefined
  const active = await connections.list(workspaceId)
  return active.find(({ id }) => id === connectionId)?.provider ?? null
}

/** Finds the hosts to choose from, for a claim that several connections fitted. */
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
  return { chain, txHash, uid, block }
}

/**
 * Catches the error of a cursor that is not one of ours.
 * @throws any other error
 */
function orLost(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'bad_request') return undefined
  throw error
}
