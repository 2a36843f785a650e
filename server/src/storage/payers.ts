/** SQL that computes payers (`Payer`). */

/**
 * SQL for the payer of a workspace.
 * @param id an expression for the workspace's id
 */
export function payerOfWorkspace(id: string): string {
  return `(SELECT COALESCE(payer.shares_with || '/' || payer.id, paid.paid_by, paid.id)
    FROM workspaces AS paid LEFT JOIN users AS payer ON payer.id = paid.paid_by WHERE paid.id = ${id})`
}

/** The length of accounts' ids, and the most of those of workspaces. */
const ID_LENGTH = 30

/**
 * SQL for `allowanceOf`.
 * @param payer an expression for a payer, also for one above an account
 */
export function allowanceSql(payer: string): string {
  return `substr(${payer}, 1, ${ID_LENGTH})`
}

/**
 * SQL for the id of a payer's account.
 * @param payer an expression for a payer, also for one above an account
 */
export function accountSql(payer: string): string {
  return `substr(${payer}, length(${payer}) - ${ID_LENGTH - 1}, ${ID_LENGTH})`
}
