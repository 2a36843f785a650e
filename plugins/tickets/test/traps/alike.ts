/** Claims that are alike at every tracker: what was done, what was not, what came and went, and what a reader cannot see. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import * as jira from './jira-api.ts'
import { refusal } from './linear-api.ts'
import { REFUSED } from './redmine-api.ts'
import {
  begunTracker,
  DAY,
  emptyTracker,
  FAILED,
  FAILED_LATER,
  HOUR,
  instead,
  LATE,
  LATE_OR_UNTOLD,
  MEANINGLESS,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_UNTOLD,
  type Row,
  rowsOf,
  type Scene,
  SECOND,
  TRUE,
  TRUE_OR_UNTOLD,
  TRUE_UNTOLD,
  type TrackerName,
  UNTOLD,
  WORDS,
} from './row.ts'
import { DOWN, EMPTY, FILTERED, NO_ROUTE, NULL, SIGN_IN } from './troubles.ts'

interface Manners {
  /** The answer to refused credentials. */
  readonly refused: Answer
  /** The answer where the issue is missing, or hidden. */
  readonly missing: Answer
  readonly limited: Answer
  /** Requests whose answers have the history. */
  readonly history: RegExp
  readonly elsewhere: string
  /** A target that leads to another address. */
  readonly injected: string
}

const JIRA: Manners = {
  refused: {
    status: 401,
    body: { errorMessages: ['Client must be authenticated to access this resource.'], errors: {} },
  },
  missing: { status: 404, body: { errorMessages: [jira.NO_ISSUE], errors: {} } },
  limited: {
    status: 429,
    headers: { 'retry-after': '20', 'x-ratelimit-reset': '2026-03-11T09:31Z' },
    body: { errorMessages: ['Rate limit exceeded.'], errors: {} },
  },
  history: /changelog/,
  elsewhere: 'jira:other.atlassian.net/ENG-1',
  injected: `jira:${jira.CLOUD_HOST}/ENG-2%2F..%2FENG-1`,
}

const MANNERS: Readonly<Record<TrackerName, Manners>> = {
  jira: JIRA,
  'data center': {
    ...JIRA,
    elsewhere: 'jira:jira.example.com/other/ENG-1',
    injected: `jira:${jira.CENTER_HOST}/../rest/ENG-1`,
  },
  linear: {
    refused: refusal(401, 'Authentication required, not authenticated', 'authentication error'),
    missing: refusal(200, 'Entity not found: Issue', 'invalid input', 400),
    limited: refusal(400, 'Rate limit exceeded', 'ratelimited', 429),
    history: /graphql/,
    elsewhere: 'linear:other/ENG-1',
    injected: 'linear:acme/ENG-1"){id}',
  },
  redmine: {
    refused: REFUSED,
    missing: { status: 404 },
    limited: { status: 429, headers: { 'retry-after': '20' }, body: 'Too many requests' },
    history: /journals/,
    elsewhere: 'redmine:redmine.example.com/other/123',
    injected: 'redmine:redmine.example.com/pm/123/../124',
  },
}

/** Fails for three of thirteen requests, so that a check of a few of them succeeds at times. */
function failsOften(): Scene['instead'] {
  let count = 0
  return () => ([0, 3, 5].includes(++count % 13) ? DOWN : undefined)
}

function rowsAt(provider: TrackerName): readonly Row[] {
  const row = rowsOf(provider)
  const { refused, missing, limited, history, elsewhere, injected } = MANNERS[provider]
  const { key, otherKey, agent, person, todo, progress, review, done, closed } = WORDS[provider]
  const begun = () => begunTracker(provider)
  const finished = () => begun().move(0, done)
  const made = () => emptyTracker(provider).make(-2 * DAY)
  /** An issue that was done and opened again, so many times, some seconds each. */
  const toggled = (fromMs: number, count: number) => {
    const tracker = begun()
    for (let index = 0; index < count; index++) {
      tracker.move(fromMs + index * 20 * SECOND, done)
      tracker.move(fromMs + index * 20 * SECOND + 10 * SECOND, progress)
    }
    return tracker
  }
  const params = { category: 'done' }
  const exact = { category: 'done', status: done, from: progress, by: agent }
  const later = { submittedMs: 41 * MINUTE }
  const isJira = provider === 'jira' || provider === 'data center'
  const credentials = isJira ? { api_token: 'ATATT3xFfGF0zzzzzzzzzzzz' } : { api_key: 'lin_api_zzzzzzzzzzzzzzzzzzzz' }
  const revoked = provider === 'data center' ? { token: 'zzzzzzzzzzzzzzzzzzzzzzzz' } : credentials
  const aged = (seconds: number): Answer => ({ ...missing, headers: { age: String(seconds) } })

  const honest: readonly Row[] = [
    row(TRUE, 'done, its category claimed', 'the history has the transition', () => ({
      tracker: finished(),
      params,
      facts: { category: 'done', status: done },
    })),
    row(TRUE, 'done, its status claimed', 'the history has the transition', () => ({
      tracker: finished(),
      params: { status: done },
      facts: { status: done },
    })),
    row(TRUE, 'done, everything claimed', 'the history names both statuses and the account', () => ({
      tracker: finished(),
      params: exact,
      facts: { category: 'done', status: done, from: progress, by: agent },
    })),
    row(TRUE, 'done, submitted forty minutes later', "the history has the server's own time", () => ({
      tracker: finished(),
      params: exact,
      ...later,
    })),
    row(TRUE, 'done, and opened again before the first look', 'leaving undoes no transition', () => ({
      tracker: finished().move(6 * SECOND, progress, { by: person }),
      params,
      submittedMs: 10 * SECOND,
    })),
    row(
      TRUE_OR_UNTOLD,
      'done, and opened again half a second after the claim',
      'a clock that is told in whole seconds does not tell which was first',
      () => ({ tracker: finished().move(SECOND / 2, progress, { by: person }), params }),
    ),
    row(TRUE, 'done, opened again after five minutes, submitted later', 'leaving undoes no transition', () => ({
      tracker: finished().move(5 * MINUTE, progress, { by: person }),
      params: exact,
      ...later,
    })),
    row(TRUE, 'done, and taken to another done status after a minute', 'it was in the claimed one', () => ({
      tracker: finished().move(MINUTE, closed, { by: person }),
      params: { status: done },
      ...later,
    })),
    row(TRUE, 'done yesterday, opened again, and done now', 'the second transition is the claimed one', () => ({
      tracker: made()
        .move(-DAY, done, { by: person })
        .move(-5 * HOUR, progress, { by: person })
        .move(0, done),
      params: exact,
    })),
    row(TRUE, 'done by a person, opened again, and done by the agent', 'one transition is as claimed', () => ({
      tracker: begun()
        .move(-2 * MINUTE, done, { by: person })
        .move(-MINUTE, progress, { by: person })
        .move(0, done),
      params: exact,
      facts: { by: agent },
    })),
    row(TRUE, 'done by the agent, opened again, and done by a person', 'one transition is as claimed', () => ({
      tracker: finished()
        .move(MINUTE, progress, { by: person })
        .move(2 * MINUTE, done, { by: person }),
      params: exact,
      ...later,
    })),
    row(TRUE, 'done after two minutes', 'it became so within the tolerance', () => ({
      tracker: begun().move(2 * MINUTE, done),
      params: exact,
    })),
    row(TRUE, 'done after two minutes, while nobody could look', 'the history tells when', () => ({
      tracker: begun().move(2 * MINUTE, done),
      params: exact,
      instead: instead(DOWN, { untilMs: 3 * MINUTE }),
    })),
    row(TRUE, 'done and opened again while nobody could look', 'the history tells both', () => ({
      tracker: begun()
        .move(MINUTE, done)
        .move(2 * MINUTE, progress),
      params: exact,
      instead: instead(DOWN, { untilMs: 3 * MINUTE }),
    })),
    row(TRUE, 'done before a hundred and twenty edits, submitted later', 'a history has more than one page', () => ({
      tracker: finished().edit(3 * MINUTE, 120, { by: person }),
      params: exact,
      ...later,
    })),
    row(TRUE, 'done after a hundred and fifty edits', 'a history has more than one page', () => ({
      tracker: begun().edit(-HOUR, 150, { by: person }).move(0, done),
      params: exact,
    })),
    row(TRUE, 'done between many edits, and opened again', 'a history has more than one page', () => ({
      tracker: begun()
        .edit(-HOUR, 130, { by: person })
        .move(0, done)
        .move(MINUTE, progress)
        .edit(2 * MINUTE, 130, { by: person }),
      params: exact,
      ...later,
    })),
    row(TRUE, 'done and opened again ten times before, and done now', 'all that came before is over', () => ({
      tracker: toggled(-5 * HOUR, 10).move(0, done),
      params: exact,
    })),
    row(TRUE, 'done and opened again ten times since the claim', 'the first of them is in time', () => ({
      tracker: toggled(0, 10).move(5 * MINUTE, done),
      params: exact,
      ...later,
    })),
    row(TRUE, 'done, together with another field', 'one entry may have several changes', () => ({
      tracker: begun().move(0, done, { beside: [{ field: 'assignee', from: person, to: agent }] }),
      params: exact,
    })),
    row(TRUE, 'done without an account in the history, nobody claimed', 'who did it is not claimed', () => ({
      tracker: begun().move(0, done, { by: null }),
      params: { category: 'done', status: done },
    })),
    row(TRUE, 'done by a person, nobody claimed', 'who did it is not claimed', () => ({
      tracker: begun().move(0, done, { by: person }),
      params,
      facts: { by: person },
    })),
    row(TRUE, 'a person of the history claimed', 'the claim says who did it', () => ({
      tracker: begun().move(0, done, { by: person }),
      params: { ...params, by: person },
    })),
    row(TRUE, 'begun and passed through in a minute, submitted later', 'the history shows what was in between', () => ({
      tracker: made().move(0, progress).move(MINUTE, done),
      params: { status: progress, from: todo, by: agent },
      ...later,
    })),
    row(TRUE, 'from one done status to another', 'a status is claimed, and the history names it', () => ({
      tracker: made().move(-DAY, done, { by: person }).move(0, closed),
      params: { status: closed, from: done, by: agent },
    })),
    row(TRUE, 'opened again, and that is claimed', 'open is a category as any other', () => ({
      tracker: made().move(-DAY, done).move(0, todo),
      params: { category: 'open', status: todo, from: done },
    })),
    row(TRUE, 'made a minute before, and done', 'a young issue has a history, too', () => ({
      tracker: emptyTracker(provider).make(-MINUTE, { by: agent }).move(0, done),
      params: { ...exact, from: todo },
    })),
    row(TRUE, 'made after the claim, and done', 'it became so within the tolerance', () => ({
      tracker: emptyTracker(provider)
        .make(MINUTE, { by: agent })
        .move(2 * MINUTE, done),
      params,
    })),
    row(TRUE, 'another issue, whose key begins alike, is not done', 'keys are compared whole', () => ({
      tracker: finished().make(1, { key: otherKey }),
      params,
    })),
    row(TRUE, 'renamed status, its id claimed', 'an id is no name', () => ({
      tracker: finished().redefine(SECOND / 2, done, { name: 'Fertig' }),
      params: exact,
    })),
    row(TRUE, 'deleted after two minutes', 'looks have seen it', () => ({
      tracker: finished().remove(2 * MINUTE),
      params,
    })),
    row(TRUE, 'hidden after two minutes', 'looks have seen it', () => ({
      tracker: finished().mark(2 * MINUTE, { isHidden: true }),
      params,
    })),
    row(TRUE, 'done three minutes before the claim', 'agents date a claim when they report', () => ({
      tracker: begun().move(-3 * MINUTE, done),
      params: exact,
    })),
    row(TRUE_OR_UNTOLD, 'done an hour before the claim', 'it was there before', () => ({
      tracker: begun().move(-HOUR, done),
      params: exact,
    })),
    row(TRUE_OR_UNTOLD, 'done long before the claim', 'it was there before', () => ({
      tracker: made().move(-DAY, done),
      params,
    })),
    row(
      ['in time', 'verified', 'unverifiable', 'failed'],
      'done twenty minutes before the claim, and opened again before it',
      'it was over when it was claimed',
      () => ({
        tracker: begun()
          .move(-20 * MINUTE, done)
          .move(-10 * MINUTE, progress),
        params,
      }),
    ),
    row(TRUE, 'claimed for two minutes ahead', 'it was there before', () => ({
      tracker: finished(),
      params,
      claimedMs: 2 * MINUTE,
      submittedMs: SECOND,
    })),
    row(TRUE, 'a server whose clock is five minutes ahead', 'its Date tells how far its clock is off', () => ({
      tracker: finished(),
      params: exact,
      clockMs: 5 * MINUTE,
    })),
    row(
      TRUE_OR_UNTOLD,
      'a server whose clock is eight minutes ahead, submitted later',
      'its Date tells how far it is off',
      () => ({
        tracker: begun().move(5 * MINUTE, done),
        params: exact,
        clockMs: 8 * MINUTE,
        ...later,
      }),
    ),
    row(TRUE, 'a server whose clock is half an hour behind', 'its Date tells how far its clock is off', () => ({
      tracker: begun().move(2 * MINUTE, done),
      params: exact,
      clockMs: -30 * MINUTE,
    })),
    row(
      TRUE_OR_UNTOLD,
      'done and opened again, at a server whose clock is two hours behind',
      'its Date tells how far it is off',
      () => ({
        tracker: finished().move(MINUTE, progress),
        params: { category: 'done', by: agent },
        clockMs: -2 * HOUR,
        ...later,
      }),
    ),
    row(TRUE_OR_UNTOLD, 'a server that tells no time', 'looks show it in time', () => ({
      tracker: finished(),
      params,
      clockMs: null,
    })),
    row(TRUE, 'a replica that lags for twenty seconds', 'a copy that lags is no absence', () => ({
      tracker: finished(),
      params: exact,
      lag: { byMs: 30 * SECOND, untilMs: 20 * SECOND },
    })),
    row(TRUE, 'limited for three minutes', 'a limit says nothing', () => ({
      tracker: finished(),
      params,
      instead: instead(limited, { untilMs: 3 * MINUTE }),
    })),
    row(TRUE, 'a server that fails for every fourth request or so', 'it answers the others', () => ({
      tracker: finished(),
      params,
      instead: failsOften(),
    })),
    row(TRUE, 'refused for two minutes', 'a refusal is no look', () => ({
      tracker: finished(),
      params,
      instead: instead(refused, { untilMs: 2 * MINUTE }),
    })),
    row(TRUE_OR_UNTOLD, 'missing for two minutes', 'an issue that is missing may be hidden', () => ({
      tracker: finished(),
      params,
      instead: instead(missing, { untilMs: 2 * MINUTE }),
    })),
    row(TRUE, 'a copy of five minutes ago, for three minutes', 'a copy is older than the transition', () => ({
      tracker: finished(),
      params,
      instead: instead(aged(300), { untilMs: 3 * MINUTE }),
    })),
  ]

  const tardy: readonly Row[] = [
    row(LATE, 'done after forty minutes', 'looks and the history show when', () => ({
      tracker: begun().move(40 * MINUTE, done),
      params,
    })),
    row(LATE, 'done after forty minutes, submitted then', 'the history shows when', () => ({
      tracker: begun().move(40 * MINUTE, done),
      params: exact,
      ...later,
    })),
    row(LATE, 'done after forty minutes, opened again and submitted then', 'the history shows when', () => ({
      tracker: begun()
        .move(40 * MINUTE, done)
        .move(40 * MINUTE + 20 * SECOND, progress)
        .move(40 * MINUTE + 40 * SECOND, done),
      params,
      ...later,
    })),
    row(LATE_OR_UNTOLD, 'done after forty minutes, and opened again then', 'it is no more when it is decided', () => ({
      tracker: begun()
        .move(40 * MINUTE, done)
        .move(50 * MINUTE, progress),
      params,
    })),
    row(LATE, 'done yesterday, opened again, and done after forty minutes', 'the first is over', () => ({
      tracker: made()
        .move(-DAY, done)
        .move(-5 * HOUR, progress)
        .move(40 * MINUTE, done),
      params,
    })),
    row(LATE, 'done after forty minutes and a hundred edits, submitted then', 'the history has several pages', () => ({
      tracker: begun()
        .edit(MINUTE, 130, { by: person })
        .move(40 * MINUTE, done),
      params,
      ...later,
    })),
    row(
      LATE_OR_UNTOLD,
      'done after forty minutes by a clock that is thirty-five minutes behind',
      'its Date tells it',
      () => ({
        tracker: begun().move(40 * MINUTE, done),
        params,
        clockMs: -35 * MINUTE,
        ...later,
      }),
    ),
    row(LATE_OR_UNTOLD, 'done after forty minutes, at a server that tells no time', 'its times have no bounds', () => ({
      tracker: begun().move(40 * MINUTE, done),
      params,
      clockMs: null,
      ...later,
    })),
    row(
      ['late', 'late', 'unverifiable', 'mismatch'],
      'done by a person, and by the agent after forty minutes',
      'the claimed account did it late',
      () => ({
        tracker: begun()
          .move(0, done, { by: person })
          .move(10 * MINUTE, progress, { by: person })
          .move(40 * MINUTE, done),
        params: exact,
        ...later,
      }),
    ),
    row(
      ['late', 'late', 'unverifiable', 'mismatch'],
      'one done status in time, and the claimed one after forty minutes',
      'the claimed status came late',
      () => ({
        tracker: begun()
          .move(0, closed)
          .move(40 * MINUTE, done),
        params: { status: done },
        ...later,
      }),
    ),
    row(LATE_OR_UNTOLD, 'moved without an entry after forty minutes', 'looks did not show it in time', () => ({
      tracker: begun().move(40 * MINUTE, done, { isSilent: true }),
      params,
    })),
  ]

  const never: readonly Row[] = [
    row(FAILED, 'never moved', 'the whole history has no such transition', () => ({ tracker: begun(), params })),
    row(FAILED, 'never moved, everything claimed', 'the whole history has no such transition', () => ({
      tracker: begun(),
      params: exact,
    })),
    row(FAILED, 'an issue without a history', 'an empty history is a whole one', () => ({ tracker: made(), params })),
    row(FAILED_LATER, 'never moved, submitted later', 'the whole history has no such transition', () => ({
      tracker: begun(),
      params,
      ...later,
    })),
    row(FAILED, 'only edited', 'an edit is no transition', () => ({
      tracker: begun().edit(0, 3),
      params,
    })),
    row(FAILED, 'only edited, a hundred and fifty times', 'an edit is no transition', () => ({
      tracker: begun().edit(0, 150),
      params,
    })),
    row(FAILED, 'resolved, and not moved', 'a resolution is no status', () => ({
      tracker: begun().resolve(0),
      params,
    })),
    row(FAILED, 'another field took the value of the status', 'only the status itself counts', () => ({
      tracker: begun().edit(0, 1, { items: [{ field: 'custom', from: progress, to: done }] }),
      params: exact,
    })),
    row(FAILED, 'another assignee, whose id is that of the status', 'only the status itself counts', () => ({
      tracker: begun().edit(0, 1, { items: [{ field: 'assignee', from: progress, to: done }] }),
      params: exact,
    })),
    row(FAILED, 'another issue was done, whose key begins alike', 'keys are compared whole', () => ({
      tracker: begun().make(-HOUR, { key: otherKey }).move(0, done, { key: otherKey }),
      params,
    })),
    row(OTHER, 'taken to review, and not done', 'review is not done', () => ({
      tracker: begun().move(0, review),
      params,
    })),
    row(OTHER, 'opened, and not done', 'open is not done', () => ({
      tracker: begun().move(0, todo),
      params: { ...params, status: done },
    })),
    row(OTHER, 'done, in another status', 'another status of the category is not the claimed one', () => ({
      tracker: begun().move(0, closed),
      params: { status: done },
    })),
    row(OTHER, 'done by a person', 'the account is not the claimed one', () => ({
      tracker: begun().move(0, done, { by: person }),
      params: exact,
    })),
    row(
      ['other', 'mismatch', 'failed', 'unverifiable'],
      'done by a person, submitted later',
      'the account is another',
      () => ({
        tracker: begun().move(0, done, { by: person }),
        params: exact,
        ...later,
      }),
    ),
    row(OTHER, 'done by a person, and commented by the agent', 'who comments moves nothing', () => ({
      tracker: begun().move(0, done, { by: person }).edit(1, 1),
      params: exact,
    })),
    row(OTHER, 'from another status', 'the status before is not the claimed one', () => ({
      tracker: begun().move(0, done),
      params: { ...exact, from: review },
    })),
    row(OTHER, 'from the claimed status by another way', 'it passed through another status', () => ({
      tracker: begun().move(-MINUTE, review, { by: person }).move(0, done),
      params: exact,
    })),
    row(FAILED_LATER, 'done yesterday, and opened again an hour ago', 'what ended before is not meant', () => ({
      tracker: made().move(-DAY, done).move(-HOUR, progress),
      params,
    })),
    row(FAILED_LATER, 'done and opened again ten times yesterday', 'what ended before is not meant', () => ({
      tracker: toggled(-20 * HOUR, 10),
      params,
    })),
    row(NOT_DONE, 'made as done at the claim', 'to be made is no transition', () => ({
      tracker: emptyTracker(provider).make(0, { status: done, by: agent }),
      params,
    })),
    row(NOT_DONE, 'made as done, everything claimed', 'to be made is no transition', () => ({
      tracker: emptyTracker(provider).make(0, { status: done, by: agent }),
      params: { ...exact, from: todo },
    })),
    row(NOT_DONE, 'made as done two days ago', 'to be made is no transition', () => ({
      tracker: emptyTracker(provider).make(-2 * DAY, { status: done }),
      params: { status: done, by: agent },
    })),
    row(OTHER, 'opened again, and claimed as done', 'it left what is claimed', () => ({
      tracker: made()
        .move(-DAY, done)
        .move(-5 * HOUR, progress)
        .move(0, todo),
      params: { status: done, by: agent },
    })),
    row(isJira ? UNTOLD : NOT_DONE, 'no such issue', 'what is missing may be hidden or deleted', () => ({
      tracker: emptyTracker(provider).make(-2 * DAY, { key: otherKey }),
      params,
    })),
    row(NOT_DONE, 'deleted after two minutes, and never done', 'nobody sees what came of it', () => ({
      tracker: begun().remove(2 * MINUTE),
      params,
    })),
    row(NOT_DONE, 'never moved, and missing from three minutes on', 'it may have been moved since', () => ({
      tracker: begun(),
      params,
      instead: instead(missing, { fromMs: 3 * MINUTE }),
    })),
    row(NOT_DONE, 'never moved, at a server that fails for every fourth request or so', 'looks may leave gaps', () => ({
      tracker: begun(),
      params,
      instead: failsOften(),
    })),
    row(NOT_DONE, 'never moved, and answers of another issue', 'another issue is not the claimed one', () => ({
      tracker: begun().make(-HOUR, { key: otherKey }).move(0, done, { key: otherKey }),
      params,
      rewrite: (url) => url.replace(new RegExp(`/${key}\\b`), `/${otherKey}`),
      linear: { answersAbout: otherKey },
    })),
    row(NOT_DONE, 'made as done, and a history that cannot be read', 'to be made is no transition', () => ({
      tracker: emptyTracker(provider).make(0, { status: done }),
      params,
      jira: { history: { status: 500, body: { errorMessages: ['Internal server error'], errors: {} } } },
      linear: { fails: ['Issue.history'] },
      ...(provider === 'redmine' && { instead: instead(DOWN, { on: history }) }),
    })),
    row(FAILED_LATER, 'never moved, at a server whose clock is an hour ahead', 'its history has nothing', () => ({
      tracker: begun(),
      params,
      clockMs: HOUR,
    })),
  ]

  const untold: readonly Row[] = [
    row(TRUE_UNTOLD, 'done, and deleted before the first look', 'nobody looked while it was there', () => ({
      tracker: finished().remove(SECOND / 2),
      params,
    })),
    row(TRUE_UNTOLD, 'done, and hidden from the beginning', 'what is hidden is not missing', () => ({
      tracker: begun().mark(-HOUR, { isHidden: true }).move(0, done),
      params,
    })),
    row(UNTOLD, 'never done, and hidden from the beginning', 'what is hidden is not missing', () => ({
      tracker: begun().mark(-HOUR, { isHidden: true }),
      params,
    })),
    row(NOT_DONE, 'never done, and hidden after three minutes', 'it may have been moved since', () => ({
      tracker: begun().mark(3 * MINUTE, { isHidden: true }),
      params,
    })),
    row(TRUE_UNTOLD, 'done after two minutes, and hidden after one', 'nobody looks any more', () => ({
      tracker: begun()
        .mark(MINUTE, { isHidden: true })
        .move(2 * MINUTE, done),
      params,
    })),
    row(TRUE_UNTOLD, 'done, and the credentials are revoked', 'refused credentials see nothing', () => ({
      tracker: finished(),
      params,
      connection: revoked,
    })),
    row(UNTOLD, 'never done, and the credentials are revoked', 'refused credentials see nothing', () => ({
      tracker: begun(),
      params,
      connection: revoked,
    })),
    row(TRUE_UNTOLD, 'done without an account in the history, the agent claimed', 'who did it is not told', () => ({
      tracker: begun().move(0, done, { by: null }),
      params: exact,
    })),
    row(OTHER_UNTOLD, 'done by nobody that the history names, a person claimed', 'who did it is not told', () => ({
      tracker: begun().move(0, done, { by: null }),
      params: { ...exact, by: person },
    })),
    row(
      TRUE_OR_UNTOLD,
      'moved without an entry in the history',
      'looks show the status, and the history nothing',
      () => ({
        tracker: begun().move(0, done, { isSilent: true }),
        params,
      }),
    ),
    row(TRUE_OR_UNTOLD, 'done, and a history that cannot be read', 'a status alone tells no transition', () => ({
      tracker: finished(),
      params,
      jira: { history: { status: 500, body: { errorMessages: ['Internal server error'], errors: {} } } },
      linear: { fails: ['Issue.history'] },
      ...(provider === 'redmine' && { instead: instead(DOWN, { on: history }) }),
    })),
    row(TRUE_UNTOLD, 'done, and answers of another issue', 'who mixes up issues does not tell what is done', () => ({
      tracker: finished().make(1, { key: otherKey }),
      params,
      rewrite: (url) => url.replace(new RegExp(`/${key}\\b`), `/${otherKey}`),
      linear: { answersAbout: otherKey },
    })),
    row(TRUE_UNTOLD, 'done, at a server that is limited for the whole life', 'a limit says nothing', () => ({
      tracker: finished(),
      params,
      instead: instead(limited),
    })),
    row(TRUE_UNTOLD, 'done, and missing for the whole life', 'what is missing may be hidden', () => ({
      tracker: finished(),
      params,
      instead: instead(missing),
    })),
    row(TRUE_UNTOLD, 'a copy of half an hour ago, for the whole life', 'a copy is older than the transition', () => ({
      tracker: finished(),
      params,
      instead: instead(aged(1500)),
    })),
    row(UNTOLD, 'at a place that no connection reads', 'nothing reads that place here', () => ({
      tracker: begun(),
      params,
      target: elsewhere,
    })),
    row(UNTOLD, 'a key that leads to another address', 'it is no key', () => ({
      tracker: finished().make(1, { key: otherKey }),
      params,
      target: injected,
    })),
    row(MEANINGLESS, 'neither a category nor a status claimed', 'at least one of both is claimed', () => ({
      tracker: finished(),
      params: { by: agent },
    })),
    row(
      ['in time', 'refused', 'unverifiable', 'verified'],
      'done, the id of the status with a zero before it',
      'an id is written in one way',
      () => ({ tracker: finished(), params: { status: `0${done}` } }),
    ),
    row(MEANINGLESS, 'a category that there is not', 'categories are open, in_progress, done and canceled', () => ({
      tracker: finished(),
      params: { category: 'closed' },
    })),
    row(
      ['in time', 'refused', 'unverifiable', 'verified', 'mismatch', 'failed'],
      'the name of the status claimed',
      'a status is claimed by its id',
      () => ({ tracker: finished(), params: { status: 'Done' } }),
    ),
    row(
      ['other', 'refused', 'mismatch', 'failed', 'unverifiable'],
      'a status of another category than the claimed one',
      'no transition can be both',
      () => ({ tracker: begun().move(0, review), params: { category: 'done', status: review } }),
    ),
    ...(
      [
        [DOWN, 'the server down'],
        [SIGN_IN, 'the page of a proxy'],
        [FILTERED, 'a filter that finds no page'],
        [NO_ROUTE, 'a gateway that leads elsewhere'],
        [EMPTY, 'an empty object'],
        [NULL, 'null'],
      ] satisfies readonly (readonly [Answer, string])[]
    ).flatMap(([answer, name]) => [
      row(TRUE_UNTOLD, `done, and ${name} for the whole life`, 'it tells neither presence nor absence', () => ({
        tracker: finished(),
        params,
        instead: instead(answer),
      })),
      row(
        provider === 'redmine' ? NOT_DONE : UNTOLD,
        `never done, and ${name} for the whole life`,
        'it tells neither presence nor absence',
        () => ({
          tracker: begun(),
          params,
          instead: instead(answer),
        }),
      ),
    ]),
  ]
  return [...honest, ...tardy, ...never, ...untold]
}

export const ALIKE: readonly Row[] = [
  ...rowsAt('jira'),
  ...rowsAt('data center'),
  ...rowsAt('linear'),
  ...rowsAt('redmine'),
]
