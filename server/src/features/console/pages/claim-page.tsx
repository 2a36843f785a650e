/** The page of a claim: the claim itself, what happened since, and the receipt. */

import type { ActionProfile } from '@claimcheck/core/plugin'
import { claimSentence, factSentences, type Receipt } from '@claimcheck/core/receipts'
import { canBeRevisited, isRead } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'
import { pluginWords } from '@claimcheck/core/words/plugins'
import { vouchedFor } from '@claimcheck/core/words/verdicts'
import { ruleWords } from '../../../storage/erasure-rules.ts'
import type { ErasureRow } from '../../../storage/erasures.ts'
import { MOST_REVISITS, type ShownRevisit } from '../../../storage/revisits.ts'
import type { CommandLine } from '../../../web/command-line.ts'
import { Comparison } from '../../../web/parts/comparison.tsx'
import { Facts, List } from '../../../web/parts/facts.tsx'
import { PluginSays } from '../../../web/parts/plugin-says.tsx'
import {
  ActionName,
  Code,
  Codes,
  Copy,
  ExactTime,
  Hash,
  Name,
  ShortDigests,
  Time,
  Verdict,
} from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { destinationOf } from '../../../web/receipt-view/destination.ts'
import { sinceWords } from '../../../web/receipt-view/since.ts'
import { headingOf, soundTone } from '../../../web/receipt-view/view.ts'
import type { ClaimDetail, ClaimState, ClaimStatus } from '../../claims/claims.ts'
import type { HostChoice } from '../../claims/host-choice.ts'
import { listPath } from '../claims/list-query.ts'
import { standingOf } from '../claims/standing.ts'
import type { Moment } from '../claims/story.ts'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { Live, LiveStatus } from '../parts/live.tsx'
import { Timeline } from '../parts/timeline.tsx'

interface ClaimPageProps {
  readonly detail: ClaimDetail
  /** The profile in the version that judges the claim; undefined where that is not loaded. */
  readonly profile: ActionProfile | undefined
  /** True if the profile has the words of a stranger's plugin. */
  readonly isForeign: boolean
  /** The provider of the claim's connection: null when that was removed, undefined when the claim needs none. */
  readonly provider: string | null | undefined
  /** The hosts to choose from, for a claim that several connections fitted. */
  readonly choice: HostChoice | undefined
  /** The looks at the claim since it was decided, oldest first. */
  readonly revisits: readonly ShownRevisit[]
  readonly receipt: Receipt | undefined
  /** Returns the title of a provider. */
  readonly titleOf: (provider: string) => string
  readonly story: readonly Moment[]
  readonly origin: string
  readonly commandLine: CommandLine
}

export function ClaimPage(props: ClaimPageProps) {
  const { detail, profile, choice, receipt, story } = props
  const { claim } = detail
  const isLive = claim.state === 'queued'
  const { headline, reason, fields, said } = standingOf(props)
  return (
    <ConsolePage
      title={headline}
      heading={
        <span id="headline" data-live={isLive ? '' : undefined}>
          {headline}
        </span>
      }
      section="claims"
      scripts={isLive ? ['live'] : []}
    >
      {isLive && <LiveStatus />}
      <Live id="claim" on={isLive}>
        <p class="standing">
          <Verdict value={claim.verdict} /> {reason}
        </p>
        {claim.nextCheckAt !== null && (
          <p>
            Next check: <Time at={claim.nextCheckAt} />, deadline: <ExactTime at={claim.deadlineAt} />
          </p>
        )}
        {claim.expectedBy !== undefined && (
          <p>
            {claim.lastCheck && !isRead(claim.lastCheck)
              ? 'The destination could not be read, and is tried again: expect a verdict at the latest '
              : 'Expect a verdict as soon as a check finds what was claimed, and at the latest '}
            <Time at={claim.expectedBy} />.
          </p>
        )}
        {choice && <ChooseHost {...choice} />}
        <div class="columns">
          <div>
            <h2>Claimed and found</h2>
            {profile && (
              <p>The agent says: {visible(claimSentence(profile, { target: claim.target, params: detail.params }))}</p>
            )}
            <Comparison fields={fields} isMissing={missingBy(detail, profile)} />
            <PluginSays sentences={said} />
            {receipt && <WhatWasRead {...props} receipt={receipt} />}
            <h2>What happened</h2>
            <Timeline moments={story} claim={claim} profile={profile} />
          </div>
          <div>
            {receipt ? (
              <ReceiptCard {...props} receipt={receipt} />
            ) : (
              <section class="card">
                <h2>Receipt</h2>
                <p>{NO_RECEIPT[claim.state]}</p>
              </section>
            )}
            <Revisits {...props} />
            <h2>The claim</h2>
            <ClaimFacts {...props} />
          </div>
        </div>
      </Live>
    </ConsolePage>
  )
}

/** Makes the test for a field that was looked for and not found: a failed claim found none of the fields that must match. */
function missingBy({ claim }: ClaimDetail, profile: ActionProfile | undefined): (name: string) => boolean {
  const { required = {} } = profile ?? {}
  return (name) => claim.verdict === 'failed' && Object.hasOwn(required, name)
}

const NO_RECEIPT: Readonly<Record<ClaimState, string>> = {
  queued: 'There is no receipt yet: it is issued when the claim is decided.',
  decided:
    'The claim is decided, but its receipt cannot be read. Ask the operator of this service to run claimcheck doctor.',
}

function ClaimFacts({ detail, profile, provider }: ClaimPageProps) {
  const { at } = useWorkspace()
  const { claim } = detail
  const { target, action, agentId } = claim
  return (
    <Facts
      rows={[
        [profile?.words.target ?? 'Target', <a href={listPath(at, { filter: { target } })}>{visible(target)}</a>],
        [
          'Action',
          <a href={listPath(at, { filter: { action } })}>
            <ActionName action={action} title={profile?.words.title} />
          </a>,
        ],
        [
          'Agent',
          <a href={listPath(at, { filter: { agentId } })}>
            <Name of={agentId} />
          </a>,
        ],
        ['Claimed at', <ExactTime at={claim.claimedAt} />],
        ['In time until', profile ? <ExactTime at={claim.claimedAt + profile.toleranceMs} /> : null],
        ['Deadline', <ExactTime at={claim.deadlineAt} />],
        ['Client claim ID (idempotency key)', <code>{visible(claim.clientClaimId)}</code>],
        ['Claim ID', <Hash value={claim.claimId} label="the claim ID" ends={15} />],
        ['Digest', <Hash value={claim.claimDigest} label="the digest" />],
        ['Trace', claim.traceparent && <Hash value={claim.traceparent} label="the traceparent" />],
        [
          'Connection, for this workspace alone',
          provider === null ? 'a connection that was removed' : provider && <a href={at.connections}>{provider}</a>,
        ],
      ]}
    />
  )
}

/** Advises what to do about a claim that several connections fitted. */
function ChooseHost({ hosts, alike }: HostChoice) {
  if (hosts.length + alike < 2) {
    return (
      <p class="notice warning">
        Several connections of the workspace fitted this claim when it was submitted. That is no longer so: submit it
        again, with a new idempotency key (client claim ID).
      </p>
    )
  }
  return (
    <p class="notice warning">
      Several connections of the workspace fit this claim.
      {hosts.length > 0 && (
        <>
          {' '}
          Submit it again with a new idempotency key (client claim ID), and name the one to read with <code>host</code>{' '}
          in its params: <Codes values={hosts} />.
        </>
      )}
      {alike > 0 && (
        <>
          {' '}
          {hosts.length > 0 ? `${alike} others have` : 'They have'} no host that names one of them alone: disconnect
          those that are too many, or give each its own owners.
        </>
      )}
    </p>
  )
}

/**
 * The part on what was read: the destination, who chose it, who checked, and what the facts say beyond the comparison. It uses the words of the
 * receipt's page, then adds what only this workspace reads.
 */
function WhatWasRead({
  receipt: { body },
  profile,
  isForeign,
  titleOf,
  detail: { access },
}: ClaimPageProps & { receipt: Receipt }) {
  const { claim, observation, verdict } = body
  const { source, facts } = observation
  const sentences =
    profile && !isForeign ? factSentences(profile, { target: claim.target, params: claim.params, facts }) : []
  const checkedBy = pluginWords(observation.verifier)
  const vouched = vouchedFor(verdict.value)
  const destination = destinationOf(source)
  if (!source && sentences.length === 0 && vouched === undefined && checkedBy === undefined) return null
  return (
    <>
      <h2>Destination</h2>
      <p>
        <strong>{visible(destination.address)}</strong>
      </p>
      <p>{visible(destination.chosenBy)}</p>
      {source && !source.listed && (
        <p class="help">
          Only this workspace reads here that {access === 'anonymous' ? 'this service' : 'this workspace'} chose it, as{' '}
          {titleOf(source.provider)}.
        </p>
      )}
      {checkedBy !== undefined && (
        <p>
          Checked by <ShortDigests text={visible(checkedBy)} />.
        </p>
      )}
      <List items={sentences.map(visible)} />
      {vouched !== undefined && <p>{vouched}</p>}
    </>
  )
}

/** The part on what became of the outcome since, with the button for owners. */
function Revisits({ detail: { claim, history }, revisits }: ClaimPageProps) {
  const { at, isOwner } = useWorkspace()
  if (!canBeRevisited(claim.verdict, history)) return null
  const mayAsk = isOwner && revisits.length < MOST_REVISITS && revisits.every(({ result }) => result !== null)
  return (
    <section class="card" id="since">
      <h2>Since then</h2>
      {revisits.length === 0 && <p>Nobody has looked again since the claim was decided.</p>}
      {revisits.map((revisit) => (
        <p>{sinceWords(revisit) ?? (revisit.result === null ? LOOKING : UNTOLD)}</p>
      ))}
      {mayAsk && <ButtonForm action={at.revisit(claim.claimId)}>Look again</ButtonForm>}
    </section>
  )
}

const LOOKING = 'It is being looked at again.'
const UNTOLD =
  'Looked at again: it cannot be told whether it is still there. The destination could not be read, or what was read is no evidence.'

function ReceiptCard({ receipt, origin, commandLine }: ClaimPageProps & { receipt: Receipt }) {
  const { receipt_id: id, observation, verdict } = receipt.body
  const tone = soundTone(verdict.value, destinationOf(observation.source))
  const document = `/v1/receipts/${encodeURIComponent(id)}`
  const page = publicPaths.receipt(id)
  return (
    <section class="card receipt-card">
      <h2>Receipt</h2>
      <p>
        Its recipients read “<strong>{headingOf({ tone })}</strong>”. Anyone can open it, and check it without trusting
        this service.
      </p>
      <div class="actions">
        <a class="button" href={page}>
          Open
        </a>
        <Copy value={`${origin}${page}`} label="link" text="Copy link" />
        <a class="button quiet" href={document} download={`${id}.json`}>
          Download
        </a>
      </div>
      <p>
        <Hash value={id} label="the receipt ID" ends={15} />
      </p>
      <p>On the command line, {commandLine.where}:</p>
      <Code text={`${commandLine.program} verify ${origin}${document}`} label="the command" />
      {observation.evidence_digest !== undefined && (
        <p>
          <a href={`${document}/evidence`}>The evidence</a>: every check, from which anyone can recompute the verdict.
        </p>
      )}
      <details id="receipt-json">
        <summary>The receipt as JSON</summary>
        <Code text={JSON.stringify(receipt, null, 2)} label="the receipt" />
      </details>
    </section>
  )
}

/**
 * The page of an erased claim.
 * @param title the title of its action; undefined where no loaded plugin checks it
 */
export function ErasedClaim({
  claim,
  erasure,
  title,
}: {
  claim: ClaimStatus
  erasure: ErasureRow
  title: string | undefined
}) {
  const { receiptId, erasedAt, rule, reference } = erasure
  return (
    <ConsolePage title="The content of this claim was erased" section="claims">
      <p class="standing">
        <Verdict value={claim.verdict} /> Erased <ExactTime at={erasedAt} />, because of{' '}
        {visible(ruleWords(rule, reference))}.
      </p>
      <p>
        Its agent, target and params are gone, its checks, and the content of its receipt with the evidence. They cannot
        be brought back. The <a href={publicPaths.receipt(receiptId)}>page of the receipt</a> tells everybody the same,
        and shows the entry that the log keeps. Submitting the claim again returns this one, and issues no second
        receipt.
      </p>
      <Facts
        rows={[
          ['Action', claim.action === '' ? null : <ActionName action={claim.action} title={title} />],
          ['Claimed at', <ExactTime at={claim.claimedAt} />],
          ['Submitted', <ExactTime at={claim.submittedAt} />],
          ['Checks', String(claim.attempts)],
          ['Claim ID', <Hash value={claim.claimId} label="the claim ID" ends={15} />],
          ['Receipt ID', <Hash value={receiptId} label="the receipt ID" ends={15} />],
        ]}
      />
    </ConsolePage>
  )
}
