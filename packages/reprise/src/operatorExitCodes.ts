/** Exit codes of the commands for operators; scripts know them. */
export const operatorExitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notApplicable: 4,
} as const;
