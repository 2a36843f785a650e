/** Roles in words. */
import type { Role } from '../services/people/members.ts'

/** What somebody is, or is invited as. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: 'an owner', member: 'a member' }
