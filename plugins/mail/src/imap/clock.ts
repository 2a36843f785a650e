/** Finds out the time of a server that states none, by the age that it gives to a message. */
import type { Instant, LogTime } from '@claimcheck/core/plugin'
import type { Copy, SentReader } from './mailbox.ts'

/** Seconds by which a clock may be off that is kept in time. */
const SYNCHRONOUS_S = 2
const LARGEST_OFFSET_S = 600

/**
 * Finds out the server's time.
 * @param copies the messages of the mailbox that is open
 * @returns undefined where the server tells no ages, or its clock is off by more than ten minutes
 */
export async function readClock(
  copies: readonly Copy[],
  reader: SentReader,
  now: () => Instant,
): Promise<LogTime | undefined> {
  const oldest = copies.toSorted((one, other) => datedAt(one) - datedAt(other))[0]
  if (!reader.tellsAges || oldest?.internalDate === undefined) return undefined
  const second = () => Math.floor(now() / 1000)
  const isAhead: AheadTest = async (least, most) => {
    const age = second() - Math.floor(datedAt(oldest) / 1000)
    return age + least >= 1 && reader.hasAge(oldest.uid, { over: age + least, most: age + most })
  }
  const isSynchronous = await isAhead(-SYNCHRONOUS_S, SYNCHRONOUS_S)
  const ahead = isSynchronous ? { least: -SYNCHRONOUS_S, most: SYNCHRONOUS_S } : await findOffset(isAhead)
  if (!ahead) return undefined
  // Servers differ in what they do at the bounds, so that these are a second wider.
  return { notBefore: (second() + ahead.least - 1) * 1000, notAfter: (second() + ahead.most + 1) * 1000 + 999 }
}

/** Tells whether the server's clock is ahead of ours by more than the one, and by the other at most, in seconds. */
type AheadTest = (least: number, most: number) => Promise<boolean>

async function findOffset(isAhead: AheadTest): Promise<{ readonly least: number; readonly most: number } | undefined> {
  let [least, most] = [-LARGEST_OFFSET_S, LARGEST_OFFSET_S]
  if (!(await isAhead(least, most))) return undefined
  while (most - least > 2 * SYNCHRONOUS_S) {
    const middle = Math.floor((least + most) / 2)
    if (await isAhead(least, middle)) most = middle
    else least = middle
  }
  return { least, most }
}

function datedAt({ internalDate }: Copy): Instant {
  return internalDate?.notBefore ?? Number.POSITIVE_INFINITY
}
