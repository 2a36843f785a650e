/** Reads Slack's Web API, which refuses with `ok: false` in an answer of status 200. */
import {
  bearer,
  type CheckContext,
  DestinationError,
  type DestinationErrorCode,
  type JsonAnswer,
  retryAfterMs,
  type Static,
  type TSchema,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'

export const SLACK_API = 'https://slack.com/api'

const codes = (code: DestinationErrorCode, errors: string) => errors.split(' ').map((error) => [error, code] as const)

/** The meaning of Slack's errors. Others say that the answer was not expected. */
const MEANINGS: ReadonlyMap<string, DestinationErrorCode> = new Map([
  ...codes('unauthorized', 'not_authed invalid_auth account_inactive token_revoked token_expired'),
  ...codes('forbidden', 'channel_not_found not_in_channel missing_scope no_permission access_denied ekm_access_denied'),
  ...codes('forbidden', 'team_access_not_granted not_allowed_token_type enterprise_is_restricted org_login_required'),
  ...codes('forbidden', 'two_factor_setup_required restricted_action accesslimited team_not_found'),
  ...codes('rate_limited', 'ratelimited rate_limited'),
  ...codes('unavailable', 'internal_error fatal_error service_unavailable team_added_to_org'),
  ...codes('timeout', 'request_timeout'),
])

const Envelope = Type.Object({ ok: Type.Boolean(), error: Type.Optional(Type.String()) })
const Identity = Type.Object({ team_id: Type.String(), is_enterprise_install: Type.Optional(Type.Boolean()) })

export function openSlack(token: string, { now }: Pick<CheckContext, 'now'>, reads: Reads) {
  /**
   * Calls a method of the Web API. @returns undefined for an error in `also`
   * @throws DestinationError for every other error
   */
  async function call<T extends TSchema>(
    method: string,
    query: Readonly<Record<string, string>>,
    schema: T,
    also: readonly string[] = [],
  ): Promise<JsonAnswer<Static<T>> | undefined> {
    const search = new URLSearchParams(query)
    const answer = await reads.json(`${SLACK_API}/${method}?${search}`, { schema: Envelope, auth: bearer(token) })
    const { ok, error = '' } = answer.value!
    if (!ok && also.includes(error)) return undefined
    if (!ok) {
      const wait = retryAfterMs(answer.headers, now())
      throw new DestinationError(MEANINGS.get(error) ?? 'unexpected_response', {
        status: answer.status,
        ...(wait !== undefined && { retryAfterMs: wait }),
      })
    }
    if (!Value.Check(schema, answer.value)) throw new DestinationError('unexpected_response', { status: answer.status })
    return { ...answer, value: answer.value as Static<T> }
  }

  return {
    call,
    /**
     * Requires that the token is of a team, and returns the permissions that it has.
     * @throws DestinationError `misconfigured` for a token of another team, or of a whole organization, which does not tell the team
     */
    async requireTeam(team: string): Promise<readonly string[]> {
      const { value, headers } = (await call('auth.test', {}, Identity))!
      if (value.team_id !== team || value.is_enterprise_install) throw new DestinationError('misconfigured')
      return (headers.get('x-oauth-scopes') ?? '').split(/\s*,\s*/).filter((scope) => scope !== '')
    },
  }
}
