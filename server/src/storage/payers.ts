/** SQL for who pays (`Payer`). */

/** SQL for who pays for what a workspace uses. @param id an expression for the workspace's id */
export function payerOfWorkspace(id: string): string {
  return `(SELECT COALESCE(payer.shares_with || '/' || payer.id, paid.paid_by, paid.id)
    FROM workspaces AS paid LEFT JOIN users AS payer ON payer.id = paid.paid_by WHERE paid.id = ${id})`
}

/** Ids of accounts have so many letters, and those of workspaces at most as many. */
const ID_LENGTH = 30

/** SQL for `allowanceOf`. @param payer an expression, also for what stands above an account */
export function allowanceSql(payer: string): string {
  return `substr(${payer}, 1, ${ID_LENGTH})`
}

/** SQL for `partyOf`. @param payer an expression */
export function partySql(payer: string): string {
  return `substr(${payer}, 1, ${2 * ID_LENGTH + 1})`
}

/** SQL for the account itself. @param payer an expression, also for what stands above an account */
export function accountSql(payer: string): string {
  return `substr(${payer}, length(${payer}) - ${ID_LENGTH - 1}, ${ID_LENGTH})`
}
