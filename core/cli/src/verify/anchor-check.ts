/** The kinds of anchors that commands know, and the check of an anchor as the options of `verify` ask for it. */

import { writeError } from '@claimcheck/command-line/terminal'
import type { AnchorExaminer } from '@claimcheck/core/hosting'
import type { AnchorChecker } from '@claimcheck/core/plugin'
import type { CheckOptions } from '@claimcheck/core/receipts'
import { createEasChecker, examineSigned } from '@claimcheck/plugin-anchor-eas/checker'
import { isUrl, readSource, uncheckable } from './source.ts'

/** Examines an anchor for commands, and for the doctor of a server, too. */
export const examineAnchor: AnchorExaminer = examineSigned

export interface AnchorOptions {
  readonly rpc?: string
  readonly eas?: string
  readonly confirmations?: string
}

/**
 * Creates the check of anchors by the node that the options name; without one, no anchor is checked.
 * @param issuer any URL of the issuer's host, which is asked for a consistency proof where the anchor is of another size
 * @throws CommandError `could_not_check` for options that are not valid
 */
export function anchorCheck(
  { rpc, eas, confirmations }: AnchorOptions,
  issuer: string | undefined,
): Pick<CheckOptions, 'anchorCheckers' | 'readConsistency'> {
  if (rpc === undefined) return {}
  if (!isUrl(rpc)) throw uncheckable('--rpc takes the http or https URL of a node')
  if (eas !== undefined && !/^0x[0-9a-f]{40}$/i.test(eas)) {
    throw uncheckable('--eas takes an address: 0x and 40 hexadecimal digits')
  }
  if (confirmations !== undefined && !/^[1-9]\d{0,8}$/.test(confirmations)) {
    throw uncheckable('--confirmations takes a number of blocks, 1 or more')
  }

  const blocks = confirmations === undefined ? undefined : Number(confirmations)
  const checker = createEasChecker({ rpcUrl: rpc, easAddress: eas, confirmations: blocks })
  return {
    anchorCheckers: [withReason(checker)],
    readConsistency: async (first, second) => {
      if (issuer === undefined) return undefined
      const url = new URL(`/v1/log/consistency?first=${first}&second=${second}`, issuer)
      return readSource(url.href).catch(() => undefined)
    },
  }
}

/** Makes a checker print why an anchor could not be read. */
function withReason(checker: AnchorChecker): AnchorChecker {
  return {
    ...checker,
    async read(anchor, keys) {
      const found = await checker.read(anchor, keys)
      if ('cause' in found) writeError(`The node could not be read: ${(found.cause as Error).message}\n`)
      return found
    },
  }
}
