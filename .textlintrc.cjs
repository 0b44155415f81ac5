// The terms check of Markdown pages. Code and strings are held against the same list by ESLint.
const terms = require('./.terms.json');

module.exports = {
  rules: {
    terminology: {
      defaultTerms: false,
      skip: ['Blockquote'],
      terms: terms.map(([term, instead]) => [`\\b${term}\\b`, instead]),
    },
  },
};
