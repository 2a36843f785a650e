/** The time line of a claim: what happened, what each check saw, and what is still to come. */

import type { ActionProfile } from '@claimcheck/core/plugin'
import { type CheckRecord, formatInstant, type Instant, isRead, type JsonObject } from '@claimcheck/core/rules'
import { offset } from '@claimcheck/core/words/durations'
import { visible } from '@claimcheck/core/words/plain-text'
import { REASON_WORDS } from '@claimcheck/core/words/verdicts'
import type { ComponentChildren } from 'preact'
import type { TSchema } from 'typebox'
import { propertiesOf, propertyLabel, written } from '../../../base/schema-properties.ts'
import { failureInWords } from '../../../web/failures.ts'
import { dayOf, Hash, Name, readableUtc, useNow, Verdict } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import type { ClaimStatus } from '../../claims/claims.ts'
import type { Moment, MomentKind, MomentOf } from '../claims/story.ts'

interface Around {
  readonly claim: ClaimStatus
  /** The profile in the version that judges the claim; undefined where that is not loaded. */
  readonly profile: ActionProfile | undefined
}

export function Timeline({ moments, claim, profile }: Around & { moments: readonly Moment[] }) {
  const instants = moments.flatMap(({ at }) => at ?? [])
  const now = useNow()
  return (
    <ol class="timeline">
      {moments.map((moment, index) => {
        const render = RENDERERS[moment.kind] as Render<Moment>
        const isToCome = moment.kind === 'unanchored' ? moment.isToCome : moment.at !== null && moment.at > now
        return (
          <li class={isToCome ? 'to-come' : undefined}>
            <p class="when">
              {moment.at !== null && <When at={moment.at} claimedAt={claim.claimedAt} before={instants[index - 1]} />}
              {isToCome && <small> to come</small>}
            </p>
            <div>{render(moment, { claim, profile })}</div>
          </li>
        )
      })}
    </ol>
  )
}

/**
 * A moment by the clock, with its distance to the claim: relative times are all alike after a day.
 * @param before the previous moment of the list, whose day is not repeated
 */
function When({ at, claimedAt, before }: { at: Instant; claimedAt: Instant; before: Instant | undefined }) {
  const day = dayOf(at)
  return (
    <>
      {(before === undefined || dayOf(before) !== day) && <span class="day">{day} </span>}
      <time dateTime={formatInstant(at)} title={readableUtc(at)}>
        {formatInstant(at).slice(11, 19)} UTC
      </time>{' '}
      {at !== claimedAt && <small class="offset">{offset(at - claimedAt)}</small>}
    </>
  )
}

type Render<M> = (moment: M, around: Around) => ComponentChildren

const RENDERERS: { readonly [K in MomentKind]: Render<MomentOf<K>> } = {
  claimed: (_, { claim: { agentId } }) => (
    <p>
      <strong>Claimed</strong> by <Name of={agentId} />
    </p>
  ),
  tolerance: () => named('End of the tolerance', ': an outcome that appears later is late'),
  submitted: () => named('Submitted'),
  checks: checksWithOneResult,
  next: () => named('Next check'),
  deadline: () => named('Deadline'),
  decided: (_, { claim: { verdict, reasonCode } }) => (
    <>
      <p>
        <strong>Decided</strong>: <Verdict value={verdict} />
      </p>
      {reasonCode !== null && (
        <p>
          {REASON_WORDS[reasonCode]} <code>{reasonCode}</code>
        </p>
      )}
    </>
  ),
  logged: ({ leafIndex, treeSize }) => (
    <p>
      <strong>In the log</strong> as entry {leafIndex}. The receipt proves it in a tree of {treeSize}.
    </p>
  ),
  anchored: ({ landing: { chain, txHash, block } }) => (
    <p>
      <strong>Anchored</strong> on {chain}
      {block && `, in block ${block.number}`}, by transaction <Hash value={txHash} label="the transaction's hash" />
    </p>
  ),
  unanchored: ({ isToCome }) => (
    <p>
      <strong>Not anchored{isToCome && ' yet'}</strong>
      {!isToCome && ': this service does not anchor its log'}
    </p>
  ),
}

function named(name: string, more?: string) {
  return (
    <p>
      <strong>{name}</strong>
      {more}
    </p>
  )
}

function checksWithOneResult({ checks }: MomentOf<'checks'>, { profile, claim: { claimedAt } }: Around) {
  const [first, last] = [checks[0]!, checks.at(-1)!]
  const { record } = first
  return (
    <>
      <p>
        <strong>{checks.length === 1 ? `Check ${first.number}` : `Checks ${first.number} to ${last.number}`}</strong>:{' '}
        {shown(record, profile)}
      </p>
      {isRead(record) && <ObjectFacts object={record.observation.facts} schema={profile?.facts} />}
      {checks.length > 1 && (
        <details id={`checks-${first.number}`}>
          <summary>
            {checks.length} checks with this result, the last at{' '}
            <When at={last.record.answeredAt} claimedAt={claimedAt} before={record.answeredAt} />
          </summary>
          <ul>
            {checks.map(({ number, record }) => (
              <li>
                Check {number}, <When at={record.answeredAt} claimedAt={claimedAt} before={first.record.answeredAt} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

function shown(record: CheckRecord, profile: ActionProfile | undefined): ComponentChildren {
  if (!isRead(record)) {
    const { code, status } = record.failure
    return (
      <>
        could not read. {sentence(failureInWords(code))} <code>{code}</code>
        {status !== undefined && ` (HTTP ${status})`}
      </>
    )
  }
  const { observation } = record
  if (observation.kind === 'absent') return 'it is not there'
  if (observation.differs.length === 0) return 'it is there as claimed'
  return `it differs in ${observation.differs.map((name) => fieldTitle(name, profile)).join(', ')}`
}

/** Finds the title of a required field. */
function fieldTitle(name: string, profile: ActionProfile | undefined): string {
  if (!profile) return name
  return name === 'target' ? profile.words.target : propertyLabel(profile.params, name)
}

/** The members of an object, with the titles of its schema; with their names where the plugin is not loaded. */
function ObjectFacts({ object, schema }: { object: JsonObject; schema: TSchema | undefined }) {
  const titles = new Map(schema ? propertiesOf(schema).map(([name, { title }]) => [name, title]) : [])
  const entries = Object.entries(object)
  if (entries.length === 0) return null
  return (
    <dl class="facts">
      {entries.map(([name, value]) => {
        const title = titles.get(name)
        return (
          <>
            <dt title={title && name}>{title ?? visible(name)}</dt>
            <dd>
              <code>{visible(written(value))}</code>
            </dd>
          </>
        )
      })}
    </dl>
  )
}
