/** Reads targets, `slack:TEAM/CHANNEL` and their like, and tells whether the ids of a claim can be of the platform that the target names. */
import { type Claim, DestinationError } from '@claimcheck/core/plugin'
import type { Params } from './profile.ts'

export interface Channel {
  readonly platform: string
  /** The team, the guild, or the server's host with its path. */
  readonly place: string
  readonly id: string
}

/** Reads the target of a claim. Hosts are compared in lower case and without the usual port. */
export function channelOf(target: string): Channel {
  const [, platform = '', place = '', id = ''] = /^([a-z]+):(.+)\/([^/]+)$/.exec(target) ?? []
  return { platform, place: platform === 'mattermost' ? normalizeServer(place) : place, id }
}

function normalizeServer(place: string): string {
  const [host = '', ...path] = place.split('/')
  return [host.toLowerCase().replace(/:443$/, ''), ...path].join('/')
}

export function normalize({ target, params }: { target: string; params: Params }) {
  const { platform, place, id } = channelOf(target)
  return { target: `${platform}:${place}/${id}`, params }
}

interface IdForms {
  readonly message: RegExp
  /** Undefined for a platform whose threads are channels. */
  readonly thread?: RegExp
  readonly author: RegExp
}

const SLACK_TS = /^[0-9]{10}\.[0-9]{6}$/
const SNOWFLAKE = /^[0-9]{17,20}$/
const MATTERMOST_ID = /^[0-9a-z]{26}$/

const ID_FORMS: Readonly<Record<string, IdForms>> = {
  slack: { message: SLACK_TS, thread: SLACK_TS, author: /^[UWBA]/ },
  discord: { message: SNOWFLAKE, author: SNOWFLAKE },
  mattermost: { message: MATTERMOST_ID, thread: MATTERMOST_ID, author: MATTERMOST_ID },
}

/** Refuses a claim whose ids are of another platform than its target. @throws DestinationError `unsupported_target` */
export function requireOwnIds({ target, params }: Pick<Claim<Params>, 'target' | 'params'>): void {
  const forms = ID_FORMS[channelOf(target).platform]
  for (const param of ['message', 'thread', 'author'] as const) {
    const value = params[param]
    if (value !== undefined && !forms?.[param]?.test(value)) throw new DestinationError('unsupported_target', { param })
  }
}
