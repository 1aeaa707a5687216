"""Transactions as the log has them: the records of transactional ids, and what each transaction wrote in the log of groups.

``replay`` answers questions from these, ``history`` makes tables of them. Imports go to ``input`` and ``states``.
"""
