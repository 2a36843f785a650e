/** What git's failures mean: why the server could not be read. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { httpFailure } from '../rest.ts'
import { GitFailure } from './program.ts'

const HTTP_STATUS = /requested URL returned error: (\d{3})/
/** The repository names its objects in another way than a claim does. */
const OTHER_IDS = /^fatal: mismatched algorithms/m

const REFUSES_SHALLOW = /^fatal: server does not support (?:shallow|--deepen)/im

/** The server gives out only whole histories. */
export function refusesShallow(error: unknown): boolean {
  return error instanceof GitFailure && REFUSES_SHALLOW.test(error.stderr)
}

/** Returns what git returned. @throws DestinationError for a failure of git */
export async function fromServer<T>(running: Promise<T>, { now }: Pick<CheckContext, 'now'>): Promise<T> {
  try {
    return await running
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    // More than may be fetched, or than fits into memory when it is unpacked.
    if (error.isOverLimit || OTHER_IDS.test(error.stderr)) {
      throw new DestinationError('unexpected_response', { cause: error })
    }
    const status = Number(HTTP_STATUS.exec(error.stderr)?.[1])
    if (status) throw httpFailure(new Response(null, { status }), now())
    throw new DestinationError('unavailable', { cause: error })
  }
}
