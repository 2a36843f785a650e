/** The time line of a claim: what happened, what each check saw, and what is still to come. */
import { type ActionProfile, type CheckRecord, type Instant, isRead } from '@claimcheck/core'
import type { ComponentChildren } from 'preact'
import { propertyLabel } from '../../base/schema-properties.ts'
import { REASON_WORDS } from '../../base/verdict-words.ts'
import type { ClaimStatus } from '../../claims/claims.ts'
import { Hash, Time, Verdict } from '../../web/parts/values.tsx'
import { sentence } from '../../web/words.tsx'
import type { Moment, MomentKind, MomentOf, NumberedCheck } from '../claims/story.ts'
import { failureInWords } from './failures.ts'
import { ObjectFacts } from './object-facts.tsx'

interface TimelineProps {
  readonly moments: readonly Moment[]
  readonly claim: ClaimStatus
  /** Undefined where that version is not loaded. */
  readonly profile: ActionProfile | undefined
  readonly now: Instant
}

export function Timeline({ moments, claim, profile, now }: TimelineProps) {
  return (
    <ol class="timeline">
      {moments.map((moment) => {
        const tell = TELLERS[moment.kind] as Tell<Moment>
        const isToCome = moment.kind === 'unanchored' ? moment.isToCome : moment.at !== null && moment.at > now
        return (
          <li class={isToCome ? 'to-come' : undefined}>
            <p class="when">
              {moment.at === null ? null : <Time at={moment.at} now={now} />}
              {isToCome ? <small> to come</small> : null}
            </p>
            <div>{tell(moment, { claim, profile, now })}</div>
          </li>
        )
      })}
    </ol>
  )
}

type Around = Omit<TimelineProps, 'moments'>
type Tell<M> = (moment: M, around: Around) => ComponentChildren

const TELLERS: { readonly [K in MomentKind]: Tell<MomentOf<K>> } = {
  claimed: (_, { claim: { agentId } }) => (
    <p>
      <strong>Claimed</strong> by {agentId}
    </p>
  ),
  tolerance: () => (
    <p>
      <strong>End of the tolerance</strong>: an outcome that appears later is late
    </p>
  ),
  submitted: () => (
    <p>
      <strong>Submitted</strong>
    </p>
  ),
  checks: ({ checks }, { profile, now }) => <Checks checks={checks} profile={profile} now={now} />,
  next: () => (
    <p>
      <strong>Next check</strong>
    </p>
  ),
  deadline: () => (
    <p>
      <strong>Deadline</strong>
    </p>
  ),
  decided: (_, { claim: { verdict, reasonCode } }) => (
    <>
      <p>
        <strong>Decided</strong>: <Verdict value={verdict} />
      </p>
      {reasonCode === null ? null : (
        <p>
          {REASON_WORDS[reasonCode]} <code>{reasonCode}</code>
        </p>
      )}
    </>
  ),
  logged: ({ leafIndex, treeSize }) => (
    <p>
      <strong>In the log</strong> as leaf {leafIndex}. The receipt proves it in a tree of {treeSize}.
    </p>
  ),
  anchored: ({ landing: { chain, txHash, block } }) => (
    <p>
      <strong>Anchored</strong> on {chain}
      {block ? `, in block ${block.number}` : null}, by transaction{' '}
      <Hash value={txHash} label="the transaction's hash" />
    </p>
  ),
  unanchored: ({ isToCome }) => (
    <p>
      <strong>Not anchored{isToCome ? ' yet' : null}</strong>
      {isToCome ? null : ': this service does not anchor its log'}
    </p>
  ),
}

interface ChecksProps extends Pick<Around, 'profile' | 'now'> {
  readonly checks: readonly NumberedCheck[]
}

function Checks({ checks, profile, now }: ChecksProps) {
  const [first, ...more] = checks
  return (
    <>
      <Check check={first!} profile={profile} />
      {more.length > 0 ? (
        <details id={`checks-${first!.number}`}>
          <summary>
            {more.length} more {more.length === 1 ? 'check' : 'checks'} with the same result
          </summary>
          <ul>
            {more.map(({ number, record }) => (
              <li>
                Check {number}, <Time at={record.answeredAt} now={now} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </>
  )
}

interface CheckProps extends Pick<Around, 'profile'> {
  readonly check: NumberedCheck
}

function Check({ check: { number, record }, profile }: CheckProps) {
  return (
    <>
      <p>
        <strong>Check {number}</strong>: {shown(record, profile)}
      </p>
      {isRead(record) ? <ObjectFacts object={record.observation.facts} schema={profile?.facts} /> : null}
    </>
  )
}

function shown(record: CheckRecord, profile: ActionProfile | undefined): ComponentChildren {
  if (!isRead(record)) {
    const { code, status } = record.failure
    return (
      <>
        could not read. {sentence(failureInWords(code))} <code>{code}</code>
        {status === undefined ? null : ` (HTTP ${status})`}
      </>
    )
  }
  const { observation } = record
  if (observation.kind === 'absent') return 'it is not there'
  if (observation.differs.length === 0) return 'it is there as claimed'
  return `it differs in ${observation.differs.map((name) => fieldTitle(name, profile)).join(', ')}`
}

/** Of a required field. */
function fieldTitle(name: string, profile: ActionProfile | undefined): string {
  if (!profile) return name
  return name === 'target' ? profile.words.target : propertyLabel(profile.params, name)
}
