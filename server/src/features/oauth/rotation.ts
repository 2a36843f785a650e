/**
 * Writes all of a refresh at once, when it is granted. The library uses up the refresh token before it has checked everything and stored
 * what replaces it: a refusal after that, or a database that goes away, would leave the application with nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { Acting } from '../../base/actor.ts'
import { StorageError } from '../../storage/storage.ts'
import { OAUTH_PATHS } from './paths.ts'
import type { NewRecord, OAuthRecords, TokenAnswer } from './records.ts'

/** The writes of one refresh, until it is granted. */
interface Refresh {
  /** The id of the refresh token that the request uses up; undefined until then. */
  used: string | undefined
  readonly issued: NewRecord[]
}

export type Rotation = ReturnType<typeof createRotation>

/**
 * Makes the rotation of refresh tokens.
 * @param actingIn returns the actor of a request
 */
export function createRotation(records: Pick<OAuthRecords, 'rotate'>, actingIn: (ctx: KoaContextWithOIDC) => Acting) {
  const requests = new AsyncLocalStorage<Refresh>()

  return {
    /** Returns the collected writes of this request; undefined for a request that refreshes nothing, and writes at once. */
    current: () => requests.getStore(),
    /** Runs as middleware of the library: stores the collected writes once a refresh is granted. */
    async middleware(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
      if (ctx.path !== OAUTH_PATHS.token) return next()
      const refresh: Refresh = { used: undefined, issued: [] }
      await requests.run(refresh, next)
      const { used, issued } = refresh
      if (used === undefined || ctx.status !== 200) return
      const { scope, resource } = ctx.oidc.params!
      // The resource is part of the comparison: a token for another one would be sent to the wrong one.
      const asked = JSON.stringify([scope, resource])
      const grantId = ctx.oidc.entities.RefreshToken!.grantId!
      try {
        const answer = ctx.body as TokenAnswer
        const given = await records.rotate({ used, grantId, asked, issued, answer }, actingIn(ctx))
        if (given) ctx.body = given
        else refuse(ctx, 400, 'invalid_grant', 'grant request is invalid')
      } catch (error) {
        if (!(error instanceof StorageError)) throw error
        refuse(ctx, 503, 'temporarily_unavailable', 'the database is unavailable: try again later')
      }
    },
  }
}

/** Answers with an error in the form of RFC 6749 5.2. */
function refuse(ctx: KoaContextWithOIDC, status: number, error: string, description: string): void {
  ctx.status = status
  ctx.body = { error, error_description: description }
}
