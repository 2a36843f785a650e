/** The highest numbers that a repository shows. Pull requests and issues are counted together. */
import type { Mark } from '@claimcheck/core/plugin'
import { NumbersAnswer } from './answers.ts'
import type { Repository } from './repository.ts'

/** What it means that a number is not shown. */
export interface Absence {
  readonly mark?: Mark
}

/** The number of the newest; 0 where there is none; undefined where the list is refused with one of these. */
export async function newestNumber(
  { find }: Pick<Repository, 'find'>,
  list: 'pulls' | 'issues',
  refusals: readonly number[] = [],
): Promise<number | undefined> {
  const path = list === 'pulls' ? '/pulls?state=all&limit=1' : '/issues?state=all&type=issues&limit=1'
  const { value } = await find(path, NumbersAnswer, refusals)
  return value && (value[0]?.number ?? 0)
}
