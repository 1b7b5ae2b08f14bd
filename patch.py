def sub(p, pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s, (p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
sub('src/model/calibration.c',[('''/* Probabilities in the classes of `asked`, as those of `model`. */''','''/* Whether both have the same outputs in the same order: rows met in another order can have given the classes
   of a member other codes. */
static bool same_outputs(const stonet_model *model, const stonet_model *asked)
{
    bool same = sn_schema_outputs(asked->schema) == sn_schema_outputs(model->schema);
    for (int64_t k = 0; same && has_classes(model) && k < sn_schema_outputs(asked->schema); k++)
        same = class_in(model, asked, k) == k;
    return same;
}

/* Probabilities in the classes of `asked`, as those of `model`. */'''),
('''    const bool fewer = sn_schema_outputs(asked->schema) != sn_schema_outputs(model->schema);
''','''    const bool same = same_outputs(model, asked);
'''),
('    if (fewer) SN_TRY(SN_TAKE','    if (!same) SN_TRY(SN_TAKE'),('    if (fewer) spread','    if (!same) spread')])
sub('src/refit/test_calibrate.c',[('''    print_message("T %g: %g to %g\\n", model->calibration->temperature, before.log_loss, after.log_loss);
''',''),('''    double c1 = set_coverage(100, STONET_CALIBRATION_CV, STONET_SETS_LAC, &lac), c2 = set_coverage(100, STONET_CALIBRATION_FRESH, STONET_SETS_LAC, &aps);
    print_message("%g %g  %g %g\\n", c1, lac, c2, aps);
''',''),('"learner.ridge"','"learner.l2"'),('''    assert_between(set_coverage(10, STONET_CALIBRATION_CV, STONET_SETS_LAC, &lac), 0.88, 0.93);
    assert_between(set_coverage(10, STONET_CALIBRATION_CV, STONET_SETS_APS, &aps), 0.88, 0.96);
''','''    double folds;
    assert_between(set_coverage(20, STONET_CALIBRATION_CV, STONET_SETS_LAC, &folds), 0.885, 0.92);
    assert_between(folds, lac - 0.1, lac + 0.1);
    assert_between(set_coverage(20, STONET_CALIBRATION_CV, STONET_SETS_APS, &folds), 0.885, 0.96);
    assert_between(folds, aps - 0.1, aps + 0.1);
''')])
