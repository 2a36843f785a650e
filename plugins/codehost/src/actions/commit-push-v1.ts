/** `codehost.commit.push`, version 1: for claims that were submitted under it and wait still. New claims are of the newest version. */
import { type ActionProfile, type Observation, type Static, Type } from '@claimcheck/core/plugin'
import type { FoundCommit } from '../code-host.ts'
import { defineAction } from './action.ts'
import { commitPushProfile, commitQuery } from './commit-push.ts'
import { paramsV1, repositoryNumber, Sha1, Slug } from './commit-push-v2.ts'
import { BranchName, isBranchName } from './fields.ts'

const timestamp = (title: string) => Type.Optional(Type.String({ title, format: 'date-time' }))
const Params = Type.Object(paramsV1, { additionalProperties: false })
const Facts = Type.Object(
  {
    repository_id: Type.Optional(Type.Integer({ title: 'Repository number' })),
    head: Type.Optional(Type.String({ ...Sha1, title: 'Tip of the branch' })),
    pushed_at: timestamp('Pushed at'),
    removed_at: timestamp('Removed at'),
    found_on: Type.Optional(Type.String({ ...BranchName, title: 'Found on' })),
  },
  { additionalProperties: false },
)
type Facts = Static<typeof Facts>

const { removedWithinMs: _none, words, ...rest } = commitPushProfile
const { pushed_at, removed_at, found_on } = words.facts ?? {}

const profile: ActionProfile<typeof Params, typeof Facts> = {
  ...rest,
  version: '1',
  rulesVersion: 1,
  target: Slug,
  params: Params,
  facts: Facts,
  words: {
    ...words,
    facts: { pushed_at: pushed_at!, removed_at: removed_at!, found_on: found_on! },
    found: { branch: 'found_on' },
  },
}

export const commitPushV1 = defineAction({
  profile,
  reader: ({ commit }) => commit,
  query: (params, query) =>
    commitQuery(params, { ...query, windowFrom: query.claimedAt - commitPushProfile.removedWithinMs! }),
  observe: (found, { claimedAt }) => observed(found, claimedAt),
})

/** As rules 1 knew it: on the branch, or once on it since the claim, is present. */
function observed(found: FoundCommit, claimedAt: number): Observation<Facts> {
  const { place, stays = [], mark, head, pushedAt, removedAt } = found
  const facts: Facts = {
    ...repositoryNumber(found),
    ...(head === undefined ? {} : { head }),
    ...(pushedAt === undefined ? {} : { pushed_at: new Date(pushedAt).toISOString() }),
    ...(removedAt === undefined ? {} : { removed_at: new Date(removedAt).toISOString() }),
  }
  const first = stays
    .filter(({ removed }) => removed === undefined || removed.notAfter > claimedAt)
    .sort((one, other) => one.appeared.notAfter - other.appeared.notAfter)[0]
  if (place.at === 'branch' || first) {
    return { kind: 'present', differs: [], facts, ...(first ? { appeared: first.appeared } : {}), settled: false }
  }
  if (place.at === 'nowhere') return { kind: 'absent', facts, settled: mark === 'never_before' }
  const foundOn = isBranchName(place.name) ? { found_on: place.name } : {}
  return { kind: 'present', differs: ['branch'], facts: { ...facts, ...foundOn } }
}
