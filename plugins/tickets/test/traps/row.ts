/** A row of the trap table: what happens to an issue, what is claimed of it, and the verdict that is right. */
import type { JsonObject } from '@claimcheck/core/plugin'
import type { ScriptedScene } from '../../../../test/traps/scripted-life.ts'
import type { Answer, Asked, Serving } from '../../../../test/traps/scripted-server.ts'
import { type Kind, nearDeadline, row, START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import * as jira from './jira-api.ts'
import * as linear from './linear-api.ts'
import * as redmine from './redmine-api.ts'
import { type Place, Tracker } from './tracker.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The trackers: Data Center is Jira with another history, other users and other errors. */
export type TrackerName = 'jira' | 'data center' | 'linear' | 'redmine'

export interface Scene extends ScriptedScene {
  readonly tracker: Tracker
  readonly jira?: Partial<Omit<jira.Jira, 'tracker' | 'isCenter'>>
  readonly linear?: Partial<Omit<linear.Linear, 'tracker'>>
  readonly redmine?: Partial<Omit<redmine.Redmine, 'tracker'>>
}

export interface Row extends TrapRow<Scene> {
  readonly provider: TrackerName
}

export const TRUE: Kind = ['in time', 'verified']
/** It was done, and a careful reader may want to see more. */
export const TRUE_OR_UNTOLD: Kind = ['in time', 'verified', 'unverifiable']
export const FAILED: Kind = ['never', 'failed']
/** It was never done, and the history that says so is read long after the claim. */
export const FAILED_LATER: Kind = ['never', 'failed', 'unverifiable']
export const OTHER: Kind = ['other', 'mismatch', 'failed']
export const LATE: Kind = ['late', 'late']
export const LATE_OR_UNTOLD: Kind = ['late', 'late', 'unverifiable']
/** It was done, and too little is shown of it. */
export const TRUE_UNTOLD: Kind = ['in time', 'unverifiable']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: Kind = ['never', 'unverifiable', 'failed']
/** It was not done, and nothing that is shown can tell. */
export const UNTOLD: Kind = ['never', 'unverifiable', 'refused']
/** It was done otherwise, and nothing that is shown can tell. */
export const OTHER_UNTOLD: Kind = ['other', 'unverifiable']
/** No claim of this provider can mean it. */
export const MEANINGLESS: Kind = ['unknowable', 'refused', 'unverifiable']

export function rowsOf(provider: TrackerName) {
  return (kind: Kind, title: string, why: string, scene: () => Scene): Row => {
    const near = nearDeadline(kind, { late: 3 * HOUR, other: 16 * MINUTE })
    return { provider, ...row(kind, title, why, () => ({ ...near, ...scene() })) }
  }
}

/** A provider's own names for things that all trackers have. */
export interface Words {
  readonly key: string
  /** Another issue, whose key begins alike. */
  readonly otherKey: string
  readonly agent: string
  readonly person: string
  /** Statuses, of which `done` and `closed` are done, `todo` is open and first, and the rest is neither at the beginning nor at the end. */
  readonly todo: string
  readonly progress: string
  readonly review: string
  readonly done: string
  readonly closed: string
}

const CLOUD_WORDS: Words = {
  key: 'ENG-1',
  otherKey: 'ENG-11',
  agent: jira.AGENT,
  person: jira.PERSON,
  todo: '10000',
  progress: '3',
  review: '10001',
  done: '10002',
  closed: '6',
}

export const WORDS: Readonly<Record<TrackerName, Words>> = {
  jira: CLOUD_WORDS,
  'data center': { ...CLOUD_WORDS, agent: jira.CENTER_AGENT, person: jira.CENTER_PERSON },
  linear: {
    key: 'ENG-1',
    otherKey: 'ENG-11',
    agent: linear.AGENT,
    person: linear.PERSON,
    todo: linear.STATES.todo.id,
    progress: linear.STATES.progress.id,
    review: linear.STATES.review.id,
    done: linear.STATES.done.id,
    closed: linear.STATES.shipped.id,
  },
  redmine: {
    key: redmine.ISSUE,
    otherKey: '1234',
    agent: redmine.AGENT,
    person: redmine.PERSON,
    todo: '1',
    progress: '2',
    review: '4',
    done: '5',
    closed: '6',
  },
}

export function emptyTracker(provider: TrackerName): Tracker {
  const { key, agent, person, todo } = WORDS[provider]
  const statuses = {
    jira: jira.STATUSES,
    'data center': jira.STATUSES,
    linear: Object.values(linear.STATES),
    redmine: redmine.STATUSES,
  }[provider]
  const place: Place = { start: START, key, agent, person, first: todo, statuses }
  return new Tracker(place)
}

/** A tracker with the usual issue, which a person made two days ago and began a day ago. */
export function begunTracker(provider: TrackerName): Tracker {
  const { progress, person } = WORDS[provider]
  return emptyTracker(provider)
    .make(-2 * DAY)
    .move(-DAY, progress, { by: person })
}

/** An answer of what stands between, or of the tracker in trouble, between two moments, to the requests that `on` names. */
export function instead(
  answer: Answer,
  { fromMs = -DAY, untilMs = 400 * DAY, on = /./ }: { fromMs?: number; untilMs?: number; on?: RegExp } = {},
): Serving['instead'] {
  return ({ now, url }: Asked) =>
    now >= START + fromMs && now < START + untilMs && on.test(`${url.pathname}${url.search}`) ? answer : undefined
}

export interface Set {
  readonly plugin: 'jira' | 'linear' | 'redmine'
  readonly answer: Serving['answer']
  readonly options: JsonObject
  readonly target: string
  readonly secret: string
}

/** The tracker as it is, the connection as it says that it is, and the target of the claim. */
export function setOf(provider: TrackerName, scene: Scene): Set {
  const { connection = {} } = scene
  const make = { jira: cloudOf, 'data center': centerOf, linear: linearOf, redmine: redmineOf }[provider]
  const made = make(scene)
  return {
    ...made,
    options: { ...made.options, ...connection },
    target: scene.target ?? made.target,
  }
}

function cloudOf({ tracker, jira: given }: Scene): Set {
  const [email, token] = ['reader@example.com', 'ATATT3xFfGF0a4Bc9dEf0gHiJkLmNoPq']
  const authorization = `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`
  return {
    plugin: 'jira',
    answer: jira.createJira({ authorization, ...given, tracker, isCenter: false }),
    options: { base_url: `https://${jira.CLOUD_HOST}`, email, api_token: token },
    target: `jira:${jira.CLOUD_HOST}/ENG-1`,
    secret: token,
  }
}

function centerOf({ tracker, jira: given }: Scene): Set {
  const token = 'NjY1MTc2MjQyNDg2OrX0q2mQ1s8b7cVh'
  return {
    plugin: 'jira',
    answer: jira.createJira({ authorization: `Bearer ${token}`, ...given, tracker, isCenter: true }),
    options: { base_url: `https://${jira.CENTER_HOST}`, token },
    target: `jira:${jira.CENTER_HOST}/ENG-1`,
    secret: token,
  }
}

function linearOf({ tracker, linear: given }: Scene): Set {
  const key = 'lin_api_a4Bc9dEf0gHiJkLmNoPqRsTuVwXyZ0123456789a'
  return {
    plugin: 'linear',
    answer: linear.createLinear({ key, ...given, tracker }),
    options: { api_key: key },
    target: `linear:${linear.WORKSPACE}/ENG-1`,
    secret: key,
  }
}

function redmineOf({ tracker, redmine: given }: Scene): Set {
  const key = '18c65b6f2fa6f70268bc1004780f4034736f817b'
  return {
    plugin: 'redmine',
    answer: redmine.createRedmine({ key, ...given, tracker }),
    options: { base_url: `https://${redmine.HOST}`, api_key: key },
    target: `redmine:${redmine.HOST}/${redmine.ISSUE}`,
    secret: key,
  }
}
