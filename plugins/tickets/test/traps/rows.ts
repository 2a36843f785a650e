/** All rows of the trap table. */
import { ALIKE } from './alike.ts'
import { JIRA } from './jira.ts'
import { LINEAR } from './linear.ts'
import { REDMINE } from './redmine.ts'
import type { Row } from './row.ts'

export const ROWS: readonly Row[] = [...JIRA, ...LINEAR, ...REDMINE, ...ALIKE]
