/** The page of a claim: what was claimed, what happened since, and the receipt. */
import { type ActionProfile, claimSentence, factSentences, type Instant, type Receipt } from '@claimcheck/core'
import { pluginWords } from '../../base/plugin-words.ts'
import { sourceWords } from '../../base/source-words.ts'
import { outcomeWords, vouchedFor } from '../../base/verdict-words.ts'
import type { ClaimDetail, ClaimState } from '../../claims/claims.ts'
import type { HostChoice } from '../../claims/host-choice.ts'
import { Facts } from '../../web/parts/facts.tsx'
import { ActionName, Code, Codes, ExactTime, Hash, Time, Verdict, verdictMeaning } from '../../web/parts/values.tsx'
import { listPath } from '../claims/list-query.ts'
import type { Moment } from '../claims/story.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Live, LiveStatus } from '../parts/live.tsx'
import { ObjectFacts } from '../parts/object-facts.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { paths } from '../paths.ts'

interface ClaimPageProps {
  readonly viewer: Viewer
  readonly detail: ClaimDetail
  /** Of the version by which it is judged; undefined where that is not loaded. */
  readonly profile: ActionProfile | undefined
  /** Of its connection: null when that was removed, undefined when the claim needs none. */
  readonly provider: string | null | undefined
  /** Of a claim that several connections fitted. */
  readonly choice: HostChoice | undefined
  readonly receipt: Receipt | undefined
  /** What people call a provider. */
  readonly titleOf: (provider: string) => string
  readonly story: readonly Moment[]
  readonly origin: string
  readonly now: Instant
  readonly done: string | undefined
}

export function ClaimPage(props: ClaimPageProps) {
  const { viewer, detail, profile, choice, receipt, titleOf, story, origin, now, done } = props
  const { claim } = detail
  const isLive = claim.state === 'queued'
  return (
    <ConsolePage
      title={`Claim on ${claim.target}`}
      viewer={viewer}
      section="claims"
      scripts={isLive ? ['live'] : []}
      done={done}
    >
      {isLive ? <LiveStatus /> : null}
      <Live id="claim" on={isLive}>
        <p class="standing">
          <Verdict value={claim.verdict} /> {standingOf(props)}
        </p>
        {claim.nextCheckAt === null ? null : (
          <p>
            Queued. Next check: <Time at={claim.nextCheckAt} now={now} />
          </p>
        )}
        {choice ? <ChooseHost choice={choice} /> : null}
        <div class="columns">
          <div>
            <h2>What was claimed</h2>
            <ClaimFacts {...props} />
            <h2>What happened</h2>
            <Timeline moments={story} claim={claim} profile={profile} now={now} />
          </div>
          <div>
            {receipt ? (
              <WhatWasRead receipt={receipt} profile={profile} titleOf={titleOf} access={detail.access} />
            ) : null}
            <h2>Receipt</h2>
            {receipt ? <ReceiptText receipt={receipt} origin={origin} /> : <p>{NO_RECEIPT[claim.state]}</p>}
          </div>
        </div>
      </Live>
    </ConsolePage>
  )
}

/** What was found, in one sentence. */
function standingOf({ detail: { claim, params }, profile, receipt }: ClaimPageProps): string {
  if (claim.verdict === null) return verdictMeaning(null)
  const facts = receipt?.body.observation.facts ?? {}
  return outcomeWords(claim.verdict, claim.reasonCode ?? undefined, profile, { target: claim.target, params, facts })
}

const NO_RECEIPT: Readonly<Record<ClaimState, string>> = {
  queued: 'There is no receipt yet: it is issued when the claim is decided.',
  decided:
    'The claim is decided, but its receipt cannot be read. Ask the operator of this service to run npx claimcheck doctor.',
}

function ClaimFacts({ viewer, detail, profile, provider }: ClaimPageProps) {
  const { id: workspaceId } = viewer.workspace!
  const { claim, params } = detail
  const { target, action, agentId } = claim
  const hasParams = Object.keys(params).length > 0
  return (
    <>
      {profile ? <p>{claimSentence(profile, { target, params })}</p> : null}
      <Facts
        rows={[
          [profile?.words.target ?? 'Target', <a href={listPath(workspaceId, { filter: { target } })}>{target}</a>],
          [
            'Action',
            <a href={listPath(workspaceId, { filter: { action } })}>
              <ActionName action={action} title={profile?.words.title} />
            </a>,
          ],
          ['Params', hasParams ? <ObjectFacts object={params} schema={profile?.params} /> : 'none'],
          ['Agent', <a href={listPath(workspaceId, { filter: { agentId } })}>{agentId}</a>],
          ['Claimed at', <ExactTime at={claim.claimedAt} />],
          ['Deadline', <ExactTime at={claim.deadlineAt} />],
          ['Client claim ID', <code>{claim.clientClaimId}</code>],
          ['Claim ID', <Hash value={claim.claimId} label="the claim ID" ends={15} />],
          ['Digest', <Hash value={claim.claimDigest} label="the digest" />],
          ['Connection', provider === undefined ? null : <Through workspaceId={workspaceId} provider={provider} />],
        ]}
      />
    </>
  )
}

function Through({ workspaceId, provider }: { readonly workspaceId: string; readonly provider: string | null }) {
  if (provider === null) return <>a connection that was removed</>
  return <a href={paths.connections(workspaceId)}>{provider}</a>
}

/** What to do about a claim that several connections fitted. */
function ChooseHost({ choice: { hosts, alike } }: { readonly choice: HostChoice }) {
  if (hosts.length + alike < 2) {
    return (
      <p class="notice warning">
        Several connections of the workspace fitted this claim when it was submitted. That is no longer so: submit it
        again, with a new client claim ID.
      </p>
    )
  }
  return (
    <p class="notice warning">
      Several connections of the workspace fit this claim.
      {hosts.length > 0 ? (
        <>
          {' '}
          Submit it again with a new client claim ID, and name the one to read with <code>host</code> in its params:{' '}
          <Codes values={hosts} />.
        </>
      ) : null}
      {alike > 0 ? (
        <>
          {' '}
          {hosts.length > 0 ? `${alike} others have` : 'They have'} no host that names one of them alone: disconnect
          those that are too many, or give each its own owners.
        </>
      ) : null}
    </p>
  )
}

interface WhatWasReadProps extends Pick<ClaimPageProps, 'profile'> {
  readonly receipt: Receipt
  readonly titleOf: (provider: string) => string
  readonly access: ClaimDetail['access']
}

function WhatWasRead({ receipt: { body }, profile, titleOf, access }: WhatWasReadProps) {
  const { claim, observation, verdict } = body
  const { source, facts } = observation
  const told = profile ? factSentences(profile, { target: claim.target, params: claim.params, facts }) : []
  const checkedBy = pluginWords(observation.verifier)
  const vouched = vouchedFor(verdict.value)
  const chosenBy = access === 'anonymous' ? 'service' : 'workspace'
  if (!source && told.length === 0 && vouched === undefined && checkedBy === undefined) return null
  return (
    <>
      <h2>What the receipt says</h2>
      {source ? <p>Read at {sourceWords(source, { title: titleOf(source.provider), chosenBy })}.</p> : null}
      {checkedBy === undefined ? null : <p>Checked by {checkedBy}.</p>}
      {told.length > 0 ? (
        <ul>
          {told.map((sentence) => (
            <li>{sentence}</li>
          ))}
        </ul>
      ) : null}
      {vouched === undefined ? null : <p>{vouched}</p>}
    </>
  )
}

function ReceiptText({ receipt, origin }: { readonly receipt: Receipt; readonly origin: string }) {
  const path = `/v1/receipts/${receipt.body.receipt_id}`
  return (
    <>
      <p>
        Public address: <a href={path}>{receipt.body.receipt_id}</a>
      </p>
      {receipt.body.observation.evidence_digest === undefined ? null : (
        <p>
          <a href={`${path}/evidence`}>The evidence</a>: every check, from which anyone can recompute the verdict.
        </p>
      )}
      <p>Anyone can check it with this command, without trusting this service:</p>
      <Code text={`npx claimcheck verify ${origin}${path}`} label="the command" />
      <Code text={JSON.stringify(receipt, null, 2)} label="the receipt" />
    </>
  )
}
